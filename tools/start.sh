#!/bin/sh
# Starts the window; on a machine without a display, draws the default walk-through into a folder instead.
set -eu
# The program itself knows whether there is a display, and says so with exit code 2.
code=0
.venv/bin/python -m visualizer "$@" || code=$?
[ "$code" = 2 ] && [ $# = 0 ] || exit "$code"

echo "So the walk-through is drawn into a folder instead of the window."
exec .venv/bin/python -m visualizer render --walkthrough walkthrough
