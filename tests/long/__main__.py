"""Checks that take too long for `make test`, one at a time.

    python -m tests.long                          models, gradients and kill, one after the other
    python -m tests.long models dates --seeds 1   every check has its own options: --help
    python -m tests.long gradients --processes 2
    python -m tests.long kill
    python -m tests.long soak                     30 minutes, on a machine that does nothing else
    python -m tests.long dates --seeds 1          the names of tasks mean models

Each prints its figures, and the exit status is 1 if one of them is missed.
"""

from __future__ import annotations

import importlib
import sys

# What is run where nothing is named; soak is asked for by name.
USUAL = ("models", "gradients", "kill")
CHECKS = (*USUAL, "soak")


def main(arguments: list[str]) -> int:
    """Run one check, or the usual ones; the exit status."""
    if not arguments:
        return max(check(name, []) for name in USUAL)
    if arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    if arguments[0] in CHECKS:
        return check(arguments[0], arguments[1:])
    return check("models", arguments)


def check(name: str, arguments: list[str]) -> int:
    """A check is a module of its name, imported when it is its turn: one of them needs Qt."""
    if len(sys.argv) == 1:
        print(f"== {name}", flush=True)
    return int(importlib.import_module(f"tests.long.{name}").run(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
