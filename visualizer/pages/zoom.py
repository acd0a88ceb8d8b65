"""The words of a heatmap's zoom, for the pages that have one."""

from __future__ import annotations

from visualizer.i18n import tr
from visualizer.widgets.zoomable import ZoomWords


def zoom_words() -> ZoomWords:
    """In the language in use; the two sentences keep their {names} for the heatmap."""
    return ZoomWords(
        larger=tr("zoom.larger"),
        smaller=tr("zoom.smaller"),
        fit=tr("zoom.fit"),
        minimap=tr("zoom.minimap"),
        largest=tr("zoom.largest"),
        sampled=tr("zoom.sampled"),
    )
