"""python -m model_core: one command, whatever it takes imported only now."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    try:
        # takes a moment, in which somebody may think better of it
        from model_core import commands
    except KeyboardInterrupt:
        print("python -m model_core: stopped", file=sys.stderr)
        return 130
    return commands.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
