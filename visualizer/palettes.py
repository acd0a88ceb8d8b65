"""Colour tables: 256 entries from the lowest value to the highest, as (256, 3) uint8."""

from __future__ import annotations

from functools import cache

import numpy as np

# viridis by Nathaniel J. Smith, Stefan van der Walt and Eric Firing (CC0), 256 entries of RRGGBB.
_VIRIDIS = (
    "44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467481668481769"
    "48186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979472a7a472c7a"
    "472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84433d84433e85423f85"
    "4240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a3d4e8a3c4f8a3c508b3b518b"
    "3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d355e8d355f8d34608d34618d33628d"
    "33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e"
    "2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e297b8e287c8e287d8e277e8e277f8e27808e26818e"
    "26828e26828e25838e25848e25858e24868e24878e23888e23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d"
    "21918c20928c20928c20938c1f948c1f958b1f968b1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f88"
    "1fa0881fa1881fa1871fa28720a38620a48621a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad81"
    "28ae8029af7f2ab07f2cb17e2db27d2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc74"
    "3fbc7340bd7242be7144bf7046c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc863"
    "5ec96260ca6063cb5f65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d"
    "84d44b86d54989d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32"
    "addc30b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21a"
    "d8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723fde725"
)


# The palettes one may choose from; the first is the one that nobody chose.
SEQUENTIAL = ("viridis", "blue_yellow")
DIVERGING = ("blue_red", "purple_green")
# From dark blue over grey to yellow, as seen much alike with and without red-green vision.
_BLUE_YELLOW = ("#00204d", "#31446b", "#666970", "#958f78", "#cbba69", "#ffea46")


@cache
def sequential(name: str = "viridis") -> np.ndarray:
    """Lightness rises evenly, so that it reads without colour vision and in print."""
    if name == "blue_yellow":
        return _through(_BLUE_YELLOW, np.linspace(-1, 1, 256))
    return np.frombuffer(bytes.fromhex(_VIRIDIS), np.uint8).reshape(256, 3)


@cache
def diverging(anchors: tuple[str, ...]) -> np.ndarray:
    """A table through an odd number of evenly spaced "#rrggbb" anchors; the middle one is zero.

    Interpolated in Oklab (Ottosson 2020), so that equal steps in value look equal on both sides.
    """
    # 0 lies between entries 127 and 128; both get the middle colour.
    place = np.clip((np.arange(256) - 127.5) / 127.0, -1, 1)
    place[127:129] = 0.0
    return _through(anchors, place)


def _through(anchors: tuple[str, ...], place: np.ndarray) -> np.ndarray:
    """Colours (n, 3) at places (n,) between -1, the first anchor, and 1, the last."""
    lab = _oklab(np.array([_rgb(a) for a in anchors]))
    stops = np.linspace(-1, 1, len(anchors))
    mixed = np.stack([np.interp(place, stops, lab[:, i]) for i in range(3)], axis=1)
    table = np.round(_srgb(mixed) * 255).astype(np.uint8)
    table.setflags(write=False)
    return table


@cache
def two_tone(closed: str, opened: str) -> np.ndarray:
    """A mask's table: below one half `closed`, from there on `opened`."""
    table = np.repeat(np.array([_rgb(closed), _rgb(opened)]), 128, axis=0)
    table = np.round(table * 255).astype(np.uint8)
    table.setflags(write=False)
    return table


def packed(table: np.ndarray) -> np.ndarray:
    """The same colours as 0xffRRGGBB (256,) uint32, the layout of QImage.Format_RGB32."""
    r, g, b = (table[:, i].astype(np.uint32) for i in range(3))
    return (0xFF000000 | (r << 16) | (g << 8) | b).astype(np.uint32)


def luminance(rgb: np.ndarray) -> np.ndarray:
    """Relative luminance (WCAG 2.1) of uint8 colours (..., 3)."""
    return _linear(rgb.astype(np.float64) / 255) @ np.array([0.2126, 0.7152, 0.0722])


def contrast(first: str, second: str) -> float:
    """Contrast ratio (WCAG 2.1) of two "#rrggbb" colours, 1 to 21."""
    values = luminance(np.round(np.array([_rgb(first), _rgb(second)]) * 255).astype(np.uint8))
    return float((values.max() + 0.05) / (values.min() + 0.05))


def _rgb(text: str) -> list[float]:
    return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _linear(c: np.ndarray) -> np.ndarray:
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _oklab(rgb: np.ndarray) -> np.ndarray:
    return np.cbrt(_linear(rgb) @ _TO_LMS.T) @ _TO_LAB.T


def _srgb(lab: np.ndarray) -> np.ndarray:
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
