"""What is to be said of a model that was opened or saved, as one sentence with details.

A notice holds facts and English sentences of the core; its words are read when it is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visualizer.actions import show_notice
from visualizer.i18n import tr
from visualizer.lab_film import task_name
from visualizer.lenses.numbers import brief
from visualizer.reasons import as_sentence, translated
from visualizer.state import ModelEntry, Notice, ViewState, reads_matrix, silent_traits

if TYPE_CHECKING:
    from model_core import Saved


def say_remarks(state: ViewState) -> ViewState:
    """The model's own warnings, and what its file does not say; nothing where all is plain."""
    entry = state.model
    if entry is None:
        return state
    remarks = [str(sentence) for sentence in entry.model.warnings]
    values = {"name": entry.name, **silent_on(entry)}
    count = len(remarks) + (len(values) > 1)
    if not count:
        return state
    if not remarks:
        return show_notice(state, "notice.silent", "info", **values)
    details = "\n".join(remarks) if count > 1 else ""
    if len(remarks) == 1:
        return show_notice(state, "notice.remark", "warning", details, remark=remarks[0], **values)
    return show_notice(state, "notice.remarks", "warning", details, n=count, **values)


def silent_on(entry: ModelEntry) -> dict[str, str]:
    """The traits that the model's file does not tell, and what they are taken to be."""
    config, silent = entry.model.config, silent_traits(entry)
    values = {"activation": str(config.activation), "norm_eps": brief(config.norm_eps)}
    return {name: value for name, value in values.items() if name in silent}


def notice_text(notice: Notice | None) -> str:
    """A notice as a sentence in the language in use; it holds nothing but facts itself."""
    if notice is None:
        return ""
    values = dict(notice.values)
    if "reason" in values:
        values["reason"] = _reason(values["reason"], notice.details)
    if "remark" in values:
        values["remark"] = translated(values["remark"])
    if "title" in values:
        # a task is called otherwise in each language
        values["name"] = task_name(values["title"])
    if notice.key in ("error.training", "error.training.saved", "error.training.saved.data"):
        # it begins the sentence
        values["reason"] = as_sentence(values["reason"], values.get("title", ""))
    return tr(notice.key, **values, what=_silence(values))


def notice_details(notice: Notice | None) -> str:
    """What there is to know beyond the sentence, in the language in use where it is sentences."""
    if notice is None:
        return ""
    values = dict(notice.values)
    if notice.key not in ("notice.remark", "notice.remarks"):
        cut = _is_beginning(values.get("reason", ""), notice.details)
        return translated(notice.details) if cut else notice.details
    lines = [translated(line) for line in notice.details.split("\n")]
    silence = _silence(values)
    if silence:
        lines.append(tr("notice.silent", name=values["name"], what=silence))
    return "\n".join(lines)


def _reason(reason: str, details: str) -> str:
    """A reason that was cut off is translated as a whole and then cut off again."""
    if not _is_beginning(reason, details):
        return translated(reason)
    whole = translated(" ".join(details.split()))
    return whole if len(whole) <= len(reason) else whole[: len(reason) - 1] + "…"


def _is_beginning(reason: str, details: str) -> bool:
    return reason.endswith("…") and " ".join(details.split()).startswith(reason[:-1])


def _silence(values: dict[str, str]) -> str:
    said = []
    if "activation" in values:
        value = tr(f"ui.activation.{values['activation']}")
        said.append(tr("notice.silent.activation", value=value))
    if "norm_eps" in values:
        said.append(tr("notice.silent.norm_eps", value=values["norm_eps"]))
    return tr("notice.and", first=said[0], second=said[1]) if len(said) == 2 else "".join(said)


def say_saved(state: ViewState, saved: Saved) -> ViewState:
    """Where the model was written and how much that is."""
    values = {
        "file": saved.path.name,
        "size": size_text(saved.n_bytes),
        "parameters": f"{saved.n_parameters:,}",
    }
    details = str(saved.path)
    if reads_matrix(state.model):
        return show_notice(state, "notice.saved.worked", "info", details, **values)
    tokens = f"{saved.n_source_tokens:,}"
    if saved.n_source_tokens != saved.n_target_tokens:
        tokens += f" + {saved.n_target_tokens:,}"
    return show_notice(state, "notice.saved", "info", details, tokens=tokens, **values)


def size_text(n_bytes: int) -> str:
    """A file's size as people say it: "734 bytes", "12.3 kB", "2.2 MB"."""
    if n_bytes < 1000:
        return tr("size.bytes", n=n_bytes)
    size, unit = n_bytes / 1e3, "kB"
    if size >= 999.95:
        size, unit = size / 1e3, "MB"
    if size >= 999.95:
        size, unit = size / 1e3, "GB"
    return f"{size:.1f} {unit}"
