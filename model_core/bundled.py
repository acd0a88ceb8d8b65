"""Where the resources lie, in a checkout and in an installed wheel, and which models come along."""

from __future__ import annotations

from pathlib import Path


def resources() -> Path:
    """The folder of data files: checkpoints/ fonts/ i18n/ icons/ lessons/."""
    package = Path(__file__).resolve().parent
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"


# Trained models, and worked examples.
ENDINGS = (".safetensors", ".npz")


def _files() -> dict[str, Path]:
    folder = resources() / "checkpoints"
    return {path.stem: path for ending in ENDINGS for path in folder.glob(f"*{ending}")}


def names() -> list[str]:
    """The names of the bundled models, sorted."""
    return sorted(_files())


def path_of(name: str) -> Path:
    """The checkpoint of a bundled model; LookupError names those that exist."""
    files = _files()
    if name not in files:
        known = ", ".join(sorted(files)) or "none"
        raise LookupError(f"no bundled model is named {name!r}; the bundled models are: {known}")
    return files[name]
