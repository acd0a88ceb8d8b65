"""The glossary: what every op, axis, parameter and term means, in both languages. No Qt.

resources/glossary/entries.json has what no language changes (groups, names of sites and
parameters, formulas, links, sources), en.json and zh.json have the words. It is read when it is
first asked for. The formula of an op is the op's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from model_core.bundled import resources
from model_core.ops import ALL_OPS
from visualizer import i18n

# Words of which a term is a part without being meant, by language; they lead nowhere.
BESIDE = {
    "en": ("at first", "first step", "last step", "step by step", "for instance"),
    "zh": (
        *("数值", "取值", "初值", "求值", "价值", "最大值", "最小值", "绝对值"),
        *("按键", "方向键", "快捷键", "数字键", "关键", "键盘"),
        *(
            "开头",
            "箭头",
            "前头",
            "后头",
            "里头",
            "步长",
            "逐步",
            "同步",
            "进一步",
            "一步",
            "部分数",
        ),
        *("维持", "维护", "思维", "权重矩阵", "上层", "底层", "注意力权重记录"),
    ),
}
# "residual1" and "norm2" are numbered within their layer.
_NUMBERED = re.compile(r"(residual|norm)\d+")


@dataclass(frozen=True)
class Entry:
    """One term. `other` is the other language's term, `also` further words for the same thing.

    names: what sites, parameters, axes and run inputs call it    see: ids of other entries
    formula: LaTeX, empty where there is none    words: other forms of the term on screen
    """

    id: str
    group: str
    term: str
    other: str
    also: tuple[str, ...]
    words: tuple[str, ...]
    names: tuple[str, ...]
    definition: str
    text: str
    formula: str
    see: tuple[str, ...]
    source: str

    @property
    def op(self) -> str:
        """The name of the op that it explains; empty where it is none."""
        return self.id.removeprefix("op.") if self.id.startswith("op.") else ""

    @property
    def axis(self) -> str:
        """The letter of the axis that it explains; empty where it is none."""
        return self.id.removeprefix("axis.") if self.id.startswith("axis.") else ""


class Found(NamedTuple):
    """A term in a text: text[start:end] is explained by the entry `id`."""

    start: int
    end: int
    id: str


def entries(language: str | None = None) -> tuple[Entry, ...]:
    """All entries in their order: group by group, each from its first idea to its last."""
    return tuple(_entries(language or i18n.language()).values())


def groups() -> tuple[str, ...]:
    """The names of the groups in their order."""
    return tuple(_read("entries"))


def entry(identity: str, language: str | None = None) -> Entry | None:
    """The entry of that id."""
    return _entries(language or i18n.language()).get(identity)


def entry_for(word: str, language: str | None = None) -> Entry | None:
    """The entry of an id, an op, a site or its role, a parameter, an axis letter or a term."""
    known, names = _entries(language or i18n.language()), _names()
    for identity in (word, f"op.{word}"):
        if identity in known:
            return known[identity]
    found = entry_of_site(word) or (f"axis.{word}" if f"axis.{word}" in known else "")
    found = found or names.get(word, "")
    for spoken in (language or i18n.language(), *i18n.LANGUAGES):
        found = found or _forms(spoken).get(word.strip().casefold(), "")
    return known.get(found)


@lru_cache(maxsize=4096)
def entry_of_site(site: str) -> str:
    """The id of what a site or a parameter holds: its most particular name that is known."""
    names = _names()
    if site.endswith("@edit"):
        return names["edit"]
    words = _NUMBERED.sub(r"\1", site).split(".")
    words = [word for word in words if word != "layers" and not word.isdigit()]
    for start in range(len(words)):
        name = ".".join(words[start:])
        # what holds for both attentions has one name
        for spelled in (name, re.sub(r"^(self|cross)_attn\.", "attn.", name)):
            if spelled in names:
                return names[spelled]
    return ""


def search(text: str, language: str | None = None) -> tuple[Entry, ...]:
    """The entries that hold every word of the text, best first; all of them where it is empty."""
    wanted = text.casefold().split()
    everything = entries(language)
    if not wanted:
        return everything
    ranked = [(_rank(item, wanted), number) for number, item in enumerate(everything)]
    return tuple(everything[number] for rank, number in sorted(ranked) if rank < _NOWHERE)


@lru_cache(maxsize=4096)
def found_in(text: str, language: str | None = None) -> tuple[Found, ...]:
    """The terms in a text, left to right; of two that overlap the earlier, then the longer."""
    language = language or i18n.language()
    forms = _forms(language)
    found = []
    for match in _pattern(language).finditer(text):
        identity = forms.get(_singular(match.group().casefold(), forms), "")
        if identity:
            found.append(Found(match.start(), match.end(), identity))
    return tuple(found)


# How well an entry answers a search, best first.
_EXACT, _BEGINS, _NAMED, _DEFINED, _TOLD, _NOWHERE = range(6)


def _rank(item: Entry, wanted: list[str]) -> int:
    spoken = tuple(word.casefold() for word in (item.term, item.other, *item.also))
    whole = " ".join(wanted)
    if whole in spoken or whole in (item.id.casefold(), item.op, *item.names):
        return _EXACT
    if any(word.startswith(whole) for word in spoken):
        return _BEGINS
    named = " ".join((*spoken, *item.words, *item.names, item.id)).casefold()
    for rank, held in ((_NAMED, named), (_DEFINED, item.definition), (_TOLD, item.text)):
        named = f"{named} {held.casefold()}"
        if all(word in named for word in wanted):
            return rank
    return _NOWHERE


@cache
def _read(name: str) -> dict[str, Any]:
    path = resources() / "glossary" / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@cache
def _entries(language: str) -> dict[str, Entry]:
    words = _read(language)
    others = [_read(name) for name in i18n.LANGUAGES if name != language]
    formulas = {f"op.{op.name}": op.formula for op in ALL_OPS}
    return {
        identity: Entry(
            id=identity,
            group=group,
            term=words[identity]["term"],
            other=" · ".join(other[identity]["term"] for other in others),
            also=tuple(words[identity].get("also", ())),
            words=tuple(words[identity].get("words", ())),
            names=tuple(facts.get("names", ())),
            definition=words[identity]["definition"],
            text=words[identity]["text"],
            formula=facts.get("formula") or formulas.get(identity, ""),
            see=tuple(facts["see"]),
            source=facts.get("source", ""),
        )
        for group, members in _read("entries").items()
        for identity, facts in members.items()
        if identity in words
    }


@cache
def _names() -> dict[str, str]:
    """Names of sites, parameters, axes and run inputs -> id."""
    members = (item for group in _read("entries").values() for item in group.items())
    return {name: identity for identity, facts in members for name in facts.get("names", ())}


@cache
def _forms(language: str) -> dict[str, str]:
    """Every written form of a term in small letters -> id; the terms themselves go first."""
    forms: dict[str, str] = {}
    everything = _entries(language).values()
    for spelled in ("term", "also", "words"):
        for item in everything:
            said = getattr(item, spelled)
            for form in (said,) if isinstance(said, str) else said:
                forms.setdefault(form.casefold(), item.id)
    return forms


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Any form of any term, the longest first. A single Latin letter is no word of a text."""
    forms = (form for form in (*_forms(language), *BESIDE[language]) if len(form) > 1 or form > "z")
    spelled = []
    for form in sorted(forms, key=len, reverse=True):
        latin = form[0].isascii() and form[-1].isascii()
        plural = "(?:e?s)?" if form[-1:].isascii() and form[-1:].isalpha() else ""
        stem = re.escape(form)
        if language == "en" and form.endswith("y"):
            stem, plural = f"{re.escape(form[:-1])}(?:y|ys|ies)", ""
        edges = (r"(?<![\w-])", r"(?![\w-])") if language == "en" else ("", "")
        if language != "en" and latin:
            edges = (r"(?<![A-Za-z0-9_.-])", r"(?![A-Za-z0-9_-])")
        spelled.append(f"{edges[0]}{stem}{plural}{edges[1]}")
    return re.compile("|".join(spelled), re.IGNORECASE)


def _singular(form: str, forms: dict[str, str]) -> str:
    endings = (form, form.removesuffix("s"), form.removesuffix("es"), f"{form[:-3]}y")
    return next((spelled for spelled in endings if spelled in forms), form)
