"""Which files hold pairs of sentences and belong in the training lab, and which a model. No Qt."""

from __future__ import annotations

from pathlib import Path

from visualizer import actions
from visualizer.state import ViewState

PAIR_ENDINGS = (".tsv", ".csv", ".jsonl", ".txt")
MODEL_ENDINGS = (".safetensors", ".json", ".npz")
# A file was to be opened as a model, and holds pairs: the sentence that offers to take it there.
FOR_THE_LAB = "error.open.pairs"
LOOKED_AT = 1 << 16
LINES_LOOKED_AT = 200


def goes_to_lab(path: Path, in_lab: bool) -> bool:
    """Whether a file that is dropped is one of pairs, by its ending alone.

    in_lab: the lab is on show: what no model ends with is meant for it
    """
    ending = path.suffix.lower()
    return ending in PAIR_ENDINGS or (in_lab and ending not in MODEL_ENDINGS)


def holds_pairs(path: Path) -> bool:
    """Whether a file that is no model is one of pairs, by its ending or by its first lines."""
    ending = path.suffix.lower()
    if ending in MODEL_ENDINGS or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            head = stream.read(LOOKED_AT)
    except OSError:
        return False
    if not head or b"\0" in head:
        return False
    if ending in PAIR_ENDINGS:
        return True
    from model_core.training.data_formats import guess_format

    lines = head.decode("utf-8", "replace").splitlines()[:LINES_LOOKED_AT]
    guessed = guess_format(lines) if len(lines) > 1 else None
    # a comma or a colon in every line may be anything
    return guessed is not None and guessed[0] in ("tsv", "jsonl")


def offer_the_lab(state: ViewState, path: Path) -> ViewState:
    """Say that a file is no model, and that one can be trained with it."""
    values = {"file": path.name, "path": path}
    return actions.show_notice(state, FOR_THE_LAB, "info", str(path), **values)


def offered_path(state: ViewState) -> Path | None:
    """The file that was offered to the lab, while that is being said."""
    notice = state.notice
    if notice is None or notice.key != FOR_THE_LAB:
        return None
    return Path(dict(notice.values)["path"])
