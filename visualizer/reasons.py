"""The core's English sentences in the language in use: why a file was refused, what is odd. No Qt.

The core words its errors and warnings in English and knows of no other language. Each language
has a list of pairs, an English pattern and its own, in resources/i18n/reasons.{language}.json:
"core" for what this program says itself, "libraries" for what others say inside its sentences.
What a {name} of the pattern stands for is a fact and stays as it is, but for those in SAID.
"""

from __future__ import annotations

import json
import re
import string
from functools import cache
from typing import NamedTuple

from model_core.bundled import resources
from visualizer import i18n

# What may stand in a gap, by its name: a pattern that took just anything would take the sentences
# of other programs for this one's ("it is broken" is no name and value).
NUMBER = r"-?\d[\d.,]*"
GAPS = {
    "amount": rf"{NUMBER}|far too many|about 10\^\d+",
    **dict.fromkeys(("high", "id", "limit", "line", "low", "n", "number", "size"), NUMBER),
    "name": r"""\S+|["'].+?["']""",
    "second": r"""\S+|["'].+?["']""",
    "choices": r"[^;]+",
    "value": r"""[-+]?\d\S*?|'[^']*'|"[^"]*"|[\[({<].*?|None|True|False|-?inf|nan|.+\.\.\.""",
}
# Names whose text is again a sentence, or a word of the core's own.
SAID = frozenset(
    {"advice", "amount", "error", "expected", "found", "more", "names", "reason", "side", "what"}
)
# Without these in its language a sentence stays as it is.
WHOLE = ("found", "reason", "advice")
# Between what a file has and what it should have.
SEAM = ", expected "
# Sentences inside sentences: a bound for what a stranger's file may have made up.
DEEPEST = 6
LONGEST = 1000


class Pattern(NamedTuple):
    """An English sentence with gaps, and how another language says it."""

    english: str
    expression: re.Pattern[str]
    other: str


def translated(sentence: str) -> str:
    """A sentence of the core in the language in use; an unknown one stays as it is."""
    known = patterns(i18n.language())
    if not known or len(sentence) > LONGEST:
        return sentence
    said = _translated(sentence, known, DEEPEST)
    file, colon, reason = sentence.partition(": ")
    if said != sentence or not colon:
        return said
    # what the system says of a file
    about = _translated(reason, known, DEEPEST)
    return said if about == reason else f"{file}: {about}"


def as_sentence(text: str, title: str = "") -> str:
    """With its first letter large, but where a file's name comes first.

    title: what may be such a name without looking like one
    """
    head, colon, _ = text.replace("：", ":").partition(":")
    names_a_file = "." in head.rstrip(".") or "/" in head or head == title
    return text if colon and names_a_file else text[:1].upper() + text[1:]


@cache
def patterns(language: str, group: str = "") -> tuple[Pattern, ...]:
    """All patterns of a language, or those of one group, the most particular first."""
    path = resources() / "i18n" / f"reasons.{language}.json"
    if not path.exists():
        return ()
    groups: dict[str, list[tuple[str, str]]] = json.loads(path.read_text(encoding="utf-8"))
    pairs = (pair for name, pairs in groups.items() if group in ("", name) for pair in pairs)
    found = [Pattern(english, _expression(english), other) for english, other in pairs]
    return tuple(sorted(found, key=lambda pattern: -_plain_letters(pattern.english)))


def _expression(english: str) -> re.Pattern[str]:
    parts = []
    for text, name, _, _ in string.Formatter().parse(english):
        parts.append(re.escape(text))
        if name is not None:
            parts.append(f"(?P<{name}>{GAPS.get(name, '.+?')})")
    return re.compile("".join(parts))


def _plain_letters(english: str) -> int:
    return sum(len(text) for text, _, _, _ in string.Formatter().parse(english))


def matching(sentence: str, known: tuple[Pattern, ...]) -> tuple[Pattern, dict[str, str]] | None:
    """The pattern that a sentence was made from, and what fills its gaps."""
    at = _seam(sentence)
    if at is not None:
        pattern = next(p for p in known if p.english == f"{{found}}{SEAM}{{expected}}")
        return pattern, {"found": sentence[:at], "expected": sentence[at + len(SEAM) :]}
    for pattern in known:
        if SEAM not in pattern.english and (match := pattern.expression.fullmatch(sentence)):
            return pattern, match.groupdict()
    return None


def _seam(sentence: str) -> int | None:
    """Where the last ", expected " is that stands in no brackets."""
    at = sentence.rfind(SEAM)
    while at > 0:
        if sentence.count("(", 0, at) == sentence.count(")", 0, at):
            return at
        at = sentence.rfind(SEAM, 0, at)
    return None


def _translated(sentence: str, known: tuple[Pattern, ...], depth: int) -> str:
    found = matching(sentence, known) if depth else None
    if found is None:
        return sentence
    pattern, facts = found
    said = {
        name: _translated(fact, known, depth - 1) if name in SAID else fact
        for name, fact in facts.items()
    }
    if any(said.get(half) == facts.get(half) for half in WHOLE if half in said):
        return sentence  # half a translation is worse than none
    return _spaced(pattern.other, said)


def _spaced(pattern: str, facts: dict[str, str]) -> str:
    """The gaps filled in, a space where a fact in Latin letters meets Chinese ones."""
    text = ""
    for plain, name, _, _ in string.Formatter().parse(pattern):
        for part in (plain, facts[name] if name is not None else ""):
            if text and part and _apart(text[-1], part[0]):
                text += " "
            text += part
    return text


def _apart(left: str, right: str) -> bool:
    return (_is_han(left) and _is_latin(right)) or (_is_latin(left) and _is_han(right))


def _is_han(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def _is_latin(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()
