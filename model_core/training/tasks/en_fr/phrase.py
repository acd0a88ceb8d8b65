"""English words and French tokens with the word each is from, and how French runs together."""

from __future__ import annotations

from model_core.training.datasets import NONE, Pair


class Word:
    """One English word of one sentence; French tokens point at it, wherever it ends up."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


English = tuple[Word, ...]
French = tuple[tuple[str, Word | None], ...]

VOWELS = frozenset("aeiouyhâàéèêîôœ")
ELIDED = {
    "le": "l'",
    "la": "l'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "ne": "n'",
    "de": "d'",
    "que": "qu'",
}
# Before a vowel a feminine possessive sounds like the masculine one, and "ce" like "cette".
BEFORE_VOWEL = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet"}
CONTRACTED = {
    ("à", "le"): "au",
    ("à", "les"): "aux",
    ("de", "le"): "du",
    ("de", "les"): "des",
}
CHANGING = ELIDED.keys() | BEFORE_VOWEL.keys()
ARTICLES = frozenset(article for _, article in CONTRACTED)


def words(text: str) -> English:
    """New English words, split at spaces."""
    return tuple([Word(part) for part in text.split()])


def tokens(text: str, cause: Word | None) -> French:
    """French tokens, split at spaces, all from one English word."""
    if " " not in text:
        return ((text, cause),) if text else ()
    return tuple([(part, cause) for part in text.split()])


def starts_with_vowel(token: str) -> bool:
    """Whether the token before is elided; every h of the word list is silent."""
    return token[0].lower() in VOWELS


def run_together(french: French) -> French:
    """The tokens as they are written: le arbre -> l' arbre, à le parc -> au parc, ma école -> mon.

    "le" before a vowel is elided first, so that "à le hôtel" stays "à l' hôtel".
    """
    found: list[tuple[str, Word | None]] = []
    for at, part in enumerate(french, 1):
        text, cause = part
        if text in CHANGING and at < len(french) and starts_with_vowel(french[at][0]):
            text = ELIDED.get(text) or BEFORE_VOWEL[text]
            part = (text, cause)
        both = CONTRACTED.get((found[-1][0], text)) if found and text in ARTICLES else None
        if both:
            found[-1] = (both, found[-1][1] or cause)
        else:
            found.append(part)
    return tuple(found)


def pair_of(english: English, french: French, template: str, facts: tuple[str, ...] = ()) -> Pair:
    """The finished sentence with its alignment as positions; <EOS> is aligned to nothing."""
    position = {id(word): i for i, word in enumerate(english)}
    written = run_together(french)
    aligned = [NONE if cause is None else position[id(cause)] for _, cause in written]
    return Pair(
        tuple([word.text for word in english]),
        tuple([token for token, _ in written]),
        (*aligned, NONE),
        template,
        tuple(dict.fromkeys(facts)) if len(facts) > 1 else facts,
    )
