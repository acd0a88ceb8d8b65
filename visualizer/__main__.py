"""The command line: glassformer [CHECKPOINT] | glassformer render ..."""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from model_core import bundled
from visualizer import i18n
from visualizer.i18n import tr

THEMES = ("light", "dark")
SHOWN = ("values", "gradients")
PAGES = ("record", "layers", "attention", "heads", "lens", "decoding", "step", "chat", "train")
LEAST, MOST = (640, 400), (7680, 4320)


class OneSentence(argparse.ArgumentParser):
    """Says in one sentence what is wrong with the arguments, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the window, or draw it into files; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    i18n.set_language(terminal_language())
    if given[:1] == ["render"]:
        return _render(given[1:])
    parser = OneSentence(prog="glassformer", description=tr("cli.description"))
    parser.add_argument("checkpoint", nargs="?", help=tr("cli.checkpoint"))
    parser.add_argument("--version", action="version", version=f"Glassformer {version()}")
    parser.add_argument("--verbose", action="store_true", help=tr("cli.verbose"))
    options = parser.parse_args(given)
    if not has_display():
        print(f"glassformer: {tr('cli.no_display')}", file=sys.stderr)
        return 2
    # What is imported stays: looking for garbage among it would take a good part of the start.
    # The window collects it in its own way (see visualizer/garbage.py).
    gc.disable()
    from visualizer import app

    return app.main(checkpoint_of(options.checkpoint), options.verbose)


def _render(given: list[str]) -> int:
    parser = OneSentence(prog="glassformer render", description=tr("cli.render"))
    parser.add_argument("checkpoint", nargs="?", help=tr("cli.checkpoint"))
    parser.add_argument("--source", help=tr("cli.source"))
    parser.add_argument("--step", metavar="SITE", help=tr("cli.step"))
    parser.add_argument("--token", type=int, metavar="N", help=tr("cli.token"))
    parser.add_argument("--head", type=int, metavar="N", help=tr("cli.head"))
    parser.add_argument("--showing", choices=SHOWN, default="values", help=tr("cli.showing"))
    parser.add_argument("--page", choices=PAGES, default="record", help=tr("cli.page"))
    parser.add_argument("--task", metavar="NAME", help=tr("cli.task"))
    parser.add_argument("--theme", choices=THEMES, default="light")
    parser.add_argument("--language", choices=i18n.LANGUAGES, default=i18n.language())
    parser.add_argument("--size", type=_size, default=(1600, 1000), metavar="WxH")
    parser.add_argument("--scale", type=_scale, default=1.0, metavar="X")
    parser.add_argument("--out", type=Path, metavar="FILE.png")
    parser.add_argument("--walkthrough", type=Path, metavar="FOLDER", help=tr("cli.walkthrough"))
    options = parser.parse_args(given)
    if options.task is not None:
        options.page = "train"
    # the lab is about no record
    is_placed = options.step is not None or options.page == "train"
    if options.walkthrough is None and (options.out is None or not is_placed):
        parser.error(tr("cli.render.needs"))
    if options.walkthrough is not None and (options.out or options.step):
        parser.error(tr("cli.render.either"))
    # Both are read when Qt is loaded; there is no screen to ask.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    from visualizer import render

    return render.main(options, checkpoint_of(options.checkpoint))


def terminal_language() -> str:
    """The language of what is printed: Chinese where the terminal's locale is."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return "zh" if os.environ[name].startswith("zh") else "en"
    return "en"


def has_display() -> bool:
    """Whether Qt can find a screen; without one it would abort the whole process."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    if os.environ.get("WAYLAND_DISPLAY"):
        return True
    return bool(os.environ.get("DISPLAY")) and _x_server_answers()


def _x_server_answers() -> bool:
    """Whether the server that DISPLAY names can be reached, asked through Qt's own library."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # then nobody can be asked; Qt will say what it lacks
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    answers = xcb.xcb_connection_has_error(connection) == 0
    xcb.xcb_disconnect(connection)
    return answers


def checkpoint_of(text: str | None) -> Path | str | None:
    """A bundled model's name stays a name, all else is a file."""
    return text if text is None or text in bundled.names() else Path(text)


def version() -> str:
    try:
        return metadata.version("glassformer")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(tr("cli.size", size=text))
    size = (int(width), int(height))
    if not all(low <= value <= high for low, value, high in zip(LEAST, size, MOST, strict=True)):
        raise argparse.ArgumentTypeError(tr("cli.size", size=text))
    return size


def _scale(text: str) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0.5 <= scale <= 4:
        raise argparse.ArgumentTypeError(tr("cli.scale", scale=text))
    return scale


if __name__ == "__main__":
    sys.exit(main())
