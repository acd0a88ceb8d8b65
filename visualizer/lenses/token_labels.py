"""How a token is written wherever one stands: spaces and line breaks get a mark of their own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache

# Put together from signs that the bundled font has: ␣ and ↵ are none of them.
SPACE, LINE_BREAK, TAB = "└┘", "←┘", "→│"
NOTHING = "“”"
_MARKS = {" ": SPACE, "\u00a0": SPACE, "\u3000": SPACE, "\n": LINE_BREAK, "\t": TAB}
# Of so many vocabularies the labels are kept: two models may be looked at in turn.
VOCABULARIES_KEPT = 4
_KEPT: OrderedDict[int, tuple[Sequence[str], tuple[str, ...]]] = OrderedDict()


@lru_cache(maxsize=2**14)
def token_label(token: str) -> str:
    """The token as it can be seen: itself, but for spaces at its ends and what is not printed."""
    if token.isprintable() and token and token[0] != " " != token[-1]:
        return token
    inner = token.strip()
    start = token.index(inner) if inner else len(token)
    behind = start + len(inner)
    ends = (_visible(token[:start], True), _visible(token[behind:], True))
    return ends[0] + _visible(inner, False) + ends[1] or NOTHING


def token_labels(tokens: Iterable[str]) -> tuple[str, ...]:
    """The same of several."""
    return tuple(map(token_label, tokens))


def vocabulary_labels(vocabulary: Sequence[str]) -> tuple[str, ...]:
    """The same of a whole vocabulary, by id; kept, as a vocabulary never changes."""
    kept = _KEPT.get(id(vocabulary))
    # its place in memory may have become another one's
    if kept is None or kept[0] is not vocabulary:
        kept = _KEPT[id(vocabulary)] = vocabulary, token_labels(vocabulary)
        while len(_KEPT) > VOCABULARIES_KEPT:
            _KEPT.popitem(last=False)
    return kept[1]


def _visible(text: str, spaces: bool) -> str:
    return "".join(
        _MARKS[sign]
        if sign in _MARKS and (spaces or sign == "\n" or sign == "\t")
        else sign
        if sign.isprintable()
        else repr(sign)[1:-1]
        for sign in text
    )
