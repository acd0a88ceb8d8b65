"""The options of `train` that say how a file is read and with which settings a run is made."""

from __future__ import annotations

import argparse
from typing import Any

from model_core.training.data_files import Reading
from model_core.training.data_formats import FORMATS
from model_core.training.file_words import settings_list
from model_core.training.settings import read_changes
from model_core.training.text_files import UndecidedError

HEADERS = {"yes": True, "no": False, "auto": None}


class SettingsList(argparse.Action):
    """An option that lists the settings and ends, as --help does."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, 0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        print("what a --config file may set, such as {" + '"steps": 500, "d_model": 32}:')
        print("of a file's run, what is not set is chosen to suit the file, from these values on")
        print("setting           default      usual values                  what it is")
        print("\n".join(settings_list()))
        parser.exit()


def add_arguments(group: Any) -> None:
    """How the file is read; all is found out where it is not said."""
    group.add_argument("--encoding", help="such as utf-8 or gb18030")
    group.add_argument("--format", choices=FORMATS, help="else by the file's name and first lines")
    group.add_argument(
        "--separator", help="what stands between the two sentences of a line; tab for a tab"
    )
    group.add_argument(
        "--header", choices=tuple(HEADERS), default="auto", help="whether line 1 names the columns"
    )
    group.add_argument("--source-column", default="", help="its name, or its number from 1")
    group.add_argument("--target-column", default="")
    group.add_argument("--settings", action=SettingsList, help="list the settings, and end")


def reading_of(options: argparse.Namespace) -> Reading:
    """How the file is to be read, by the options."""
    return Reading(
        format=options.format,
        separator=options.separator,
        encoding=options.encoding,
        header=HEADERS[options.header],
        source=options.source_column,
        target=options.target_column,
    )


def settings_given(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that somebody has set, in a file or by options."""
    given = {} if options.config is None else read_changes(options.config)
    for name in ("seed", "steps"):
        if getattr(options, name) is not None:
            given[name] = getattr(options, name)
    return given


def said(error: UndecidedError) -> str:
    """What has to be chosen, with the options that do."""
    return f"{error}: add {error.options}, or what is right"
