#!/bin/sh
# Starts the window; on a machine without a display, draws the default walk-through into a folder instead.
set -eu
if [ "$(uname -s)" != Linux ] || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}${QT_QPA_PLATFORM:-}" ]; then
  exec .venv/bin/python -m visualizer "$@"
fi

echo "There is no display here, so the walk-through is drawn into a folder instead of the window."
exec .venv/bin/python -m visualizer render --walkthrough walkthrough
