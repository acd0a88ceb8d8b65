"""What can take the stage: one page a file. Pages know no panel and not each other.

A page is imported and made when it is first asked for: the window's first frame does not wait
for what nobody looks at yet. A new page is one more file here and one more line in PAGES.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from visualizer.state import PageName

if TYPE_CHECKING:
    from visualizer.pages.base import Page

# The name of each page -> its module in this package, and its class there.
PAGES: dict[PageName, tuple[str, str]] = {
    "record": ("record", "RecordPage"),
    "layers": ("layers", "LayersPage"),
    "attention": ("attention", "AttentionPage"),
    "heads": ("heads", "HeadsPage"),
    "lens": ("lens", "LensPage"),
    "decoding": ("decoding", "DecodingPage"),
    "step": ("step", "StepPage"),
    "chat": ("chat", "ChatPage"),
    "train": ("train", "TrainPage"),
    "parameter": ("parameter", "ParameterPage"),
}


def is_imported(name: PageName) -> bool:
    """Whether the module of a page has been imported."""
    return f"{__name__}.{PAGES[name][0]}" in sys.modules


def page_class(name: PageName) -> type[Page]:
    """The class of a page, imported where it is not yet; KeyError for a name that none has."""
    module, kind = PAGES[name]
    found: type[Page] = getattr(import_module(f"{__name__}.{module}"), kind)
    return found


class Pages(dict[PageName, "Page"]):
    """The pages that have been made; one that is asked for by its name is made then."""

    def __init__(self, make: Callable[[type[Page]], Page]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: PageName) -> Page:
        page = self[name] = self._make(page_class(name))
        return page
