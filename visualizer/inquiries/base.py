"""What is found out beside the window about what it shows: asked for by the state itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from visualizer.state import ViewState

Cancelled = Callable[[], bool]


class Inquiry:
    """One question about the state on show, answered in a thread of its own.

    delay: milliseconds of quiet before the work starts, so that stepping stays fast
    """

    delay: ClassVar[int] = 0

    def wanted(self, state: ViewState) -> Hashable | None:
        """What the state asks for; None where there is nothing to ask. Cheap: called per change."""
        raise NotImplementedError

    def answered(self, state: ViewState) -> Hashable | None:
        """What the state has an answer to already."""
        raise NotImplementedError

    def work(self, state: ViewState) -> Callable[[Cancelled], Any]:
        """The work for what the state wants, to be done in the worker's thread."""
        raise NotImplementedError

    def answer(self, state: ViewState, key: Hashable, result: Any) -> ViewState:
        """The state with the answer in it; dispatched only while it is still wanted."""
        raise NotImplementedError

    def failed(self, state: ViewState, key: Hashable, reason: str) -> ViewState:
        """The state where the work broke off; the user is told why in any case."""
        return state
