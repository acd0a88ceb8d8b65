"""The words of the interface, in the language chosen: tr("key", name=value).

One JSON catalogue per language lies in resources/i18n, and beside it one per large topic
(en.glossary.json). Sentences about ops are English in the
op itself, so that "op.*" keys exist in the other languages only.
"""

from __future__ import annotations

import json
from functools import cache

from model_core.bundled import resources

LANGUAGES = ("en", "zh")
_FALLBACK = "en"
_language = _FALLBACK


def set_language(language: str) -> None:
    """Choose the language of every later tr; what is on screen must be read again."""
    global _language
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}, expected one of {', '.join(LANGUAGES)}")
    _language = language


def language() -> str:
    """The language in use."""
    return _language


@cache
def catalogue(language: str) -> dict[str, str]:
    """All sentences of a language by key."""
    folder = resources() / "i18n"
    entries: dict[str, str] = {}
    for path in (folder / f"{language}.json", *sorted(folder.glob(f"{language}.*.json"))):
        entries |= json.loads(path.read_text(encoding="utf-8"))
    return entries


def tr(key: str, **values: object) -> str:
    """The sentence behind a key with its {names} filled in.

    A missing sentence must not take the window down: English stands in, then the key itself.
    """
    text = catalogue(_language).get(key)
    if text is None:
        text = catalogue(_FALLBACK).get(key, key)
    return text.format(**values) if values else text


def tr_count(key: str, n: int, **values: object) -> str:
    """The sentence about n things, n with commas; about one its own, where the language has it."""
    one = f"{key}.one"
    return tr(one if n == 1 and has(one) else key, n=f"{n:,}", **values)


def has(key: str) -> bool:
    """Whether the language in use has this key, for sentences that are optional."""
    return key in catalogue(_language)
