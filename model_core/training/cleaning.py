"""What was read of a file of pairs and what was left out: how much, why, and the first of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

FIRST_SHOWN = 5
LONGEST_SHOWN = 80

# Why a line gave no pair, in the order in which a report tells it, and how it does.
LEFT_OUT = (
    ("blank", "{} blank line (line {})", "{} blank lines (line {})"),
    (
        "missing",
        "{} line without both columns (line {})",
        "{} lines without both columns (line {})",
    ),
    ("empty", "{} pair with an empty side (line {})", "{} pairs with an empty side (line {})"),
    ("broken", "{} line that cannot be read (line {})", "{} lines that cannot be read (line {})"),
    ("encoding", "{} line in another encoding (line {})", "{} lines in another encoding (line {})"),
    ("half", "{} line with half a character (line {})", "{} lines with half a character (line {})"),
    (
        "control",
        "{} line with a control character (line {})",
        "{} lines with control characters (line {})",
    ),
    ("too_long", "{} line that is too long (line {})", "{} lines that are too long (line {})"),
    (
        "duplicate",
        "{} line that repeats an earlier pair (line {})",
        "{} lines that repeat an earlier pair (line {})",
    ),
)
KINDS = tuple(kind for kind, _, _ in LEFT_OUT)
# What becomes of one line or more.
WORDS = {kind: (one, more) for kind, one, more in LEFT_OUT}


@dataclass
class LeftOut:
    """The lines of one kind that gave no pair: their number, and the first few as they are."""

    kind: str
    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        places = ", ".join(str(number) for number, _ in self.first)
        more = ", …" if self.count > len(self.first) else ""
        return WORDS[self.kind][self.count > 1].format(f"{self.count:,}", places + more)


class CleaningReport:
    """Every line is counted once: as a pair, or as left out for one reason.

    several_targets: pairs whose source came before with another target; they are kept.
    stopped: where reading ended before the file did, a sentence that says so
    """

    def __init__(self) -> None:
        self.lines = 0
        self.pairs = 0
        self.header_lines = 0
        # lines inside quotation marks that go on with the pair of an earlier line
        self.continued_lines = 0
        self.several_targets = 0
        self.stopped: str | None = None
        self._left_out = {kind: LeftOut(kind) for kind in KINDS}

    def leave_out(self, kind: str, number: int, text: str) -> None:
        """Count a line that gives no pair; text: as it is, at least its beginning."""
        entry = self._left_out[kind]
        entry.count += 1
        if len(entry.first) < FIRST_SHOWN:
            entry.first.append((number, shortened(text)))

    def stop(self, sentence: str) -> None:
        """Say why the rest of the file was not read."""
        self.stopped = sentence

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The kinds that occurred."""
        return tuple(entry for entry in self._left_out.values() if entry.count)

    def count(self, kind: str) -> int:
        return self._left_out[kind].count

    @property
    def adds_up(self) -> bool:
        """Whether every line is accounted for."""
        left_out = sum(entry.count for entry in self._left_out.values())
        return self.lines == self.pairs + self.header_lines + self.continued_lines + left_out

    def sentences(self) -> Iterator[str]:
        """The report for people, a line each."""
        yield f"{counted(self.pairs, 'pair')} from {counted(self.lines, 'line')}"
        yield from map(str, self.left_out)
        if self.several_targets:
            several = counted(self.several_targets, "pair")
            yield f"{several} whose source has another target elsewhere, kept"
        if self.stopped:
            yield self.stopped


def counted(number: int, name: str) -> str:
    """As "1 pair" or "2 pairs"."""
    return f"{number:,} {name}" + ("" if number == 1 else "s")


def shortened(text: str) -> str:
    """A stranger's text for one line of a report."""
    text = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
    return "".join(letter if letter.isprintable() else " " for letter in text)
