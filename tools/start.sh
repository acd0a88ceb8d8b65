#!/bin/sh
# Starts the window; on a machine without a display, draws the default walk-through into a folder instead.
set -eu
if [ "$(uname -s)" != Linux ] || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}${QT_QPA_PLATFORM:-}" ]; then
  exec .venv/bin/python -m visualizer "$@"
fi

QT_QPA_PLATFORM=offscreen .venv/bin/python -m visualizer render --walkthrough walkthrough
echo
echo "There is no display here, so the walk-through was drawn into $(pwd)/walkthrough"
echo "For the window, run make run in a desktop session, or over ssh -X, or with DISPLAY set."
