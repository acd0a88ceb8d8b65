"""What is to be said of a model that was opened or saved, as one sentence with details."""

from __future__ import annotations

from model_core import Saved
from visualizer.actions import show_notice
from visualizer.i18n import tr
from visualizer.state import ViewState, reads_matrix, silent_traits


def say_remarks(state: ViewState) -> ViewState:
    """The model's own warnings, and what its file does not say; nothing where all is plain."""
    entry = state.model
    if entry is None:
        return state
    remarks = [str(sentence) for sentence in entry.model.warnings]
    silent = silent_on(state)
    if not remarks:
        if not silent:
            return state
        return show_notice(state, "notice.silent", name=entry.name, what=silent)
    lines = list(remarks)
    if silent:
        lines.append(tr("notice.silent", name=entry.name, what=silent))
    if len(lines) == 1:
        (remark,) = lines
        return show_notice(state, "notice.remark", "warning", name=entry.name, remark=remark)
    details = "\n".join(lines)
    if len(remarks) == 1:
        values = {"name": entry.name, "remark": remarks[0]}
        return show_notice(state, "notice.remark", "warning", details, **values)
    return show_notice(state, "notice.remarks", "warning", details, name=entry.name, n=len(lines))


def silent_on(state: ViewState) -> str:
    """The traits that the file of the model in use does not tell, and what they are taken to be."""
    if state.model is None:
        return ""
    config, silent = state.model.model.config, silent_traits(state.model)
    said = []
    if "activation" in silent:
        value = tr(f"ui.activation.{config.activation}")
        said.append(tr("notice.silent.activation", value=value))
    if "norm_eps" in silent:
        said.append(tr("notice.silent.norm_eps", value=f"{config.norm_eps:g}"))
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
