#!/bin/sh
# Sees to the system libraries that Qt's wheels expect but do not carry, and to the programs the tests drive.
#
#   system-libraries.sh run|test
#
# What is missing is found by trying. As root on Debian or Ubuntu it is installed, elsewhere the line to run is printed.
set -eu
purpose=$1
[ "$(uname -s)" = Linux ] || exit 0

qt="libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 libxkbcommon0"
xcb="libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
wayland="libwayland-cursor0 libwayland-egl1"
testing="xvfb xauth xdotool openbox"

plugins=$(.venv/bin/python -c 'import importlib.util as u, os
print(os.path.join(os.path.dirname(u.find_spec("PySide6").origin), "Qt", "plugins", "platforms"))')

# Qt's own words about a missing library name the wrong one, so the loader is asked.
absent_from() { ldd "$1" 2>/dev/null | sed -n 's/^[[:space:]]*\(.*\) => not found$/\1/p'; }

# Prints what is missing, one reason a line, and sets `packages` to what would bring it.
look() {
  packages=""; missing=""
  if ! reason=$(.venv/bin/python -c 'import PySide6.QtWidgets, PySide6.QtSvg' 2>&1); then
    packages="$qt"; missing=$(printf '%s\n' "$reason" | sed -n '$s/^ImportError: \([^:]*\):.*/\1/p')
    # Any other failure is not a matter of packages.
    [ -n "$missing" ] || { printf '%s\n' "$reason" >&2; exit 1; }
  fi
  if [ "$purpose" = test ] || [ -n "${DISPLAY:-}" ]; then
    absent=$(absent_from "$plugins/libqxcb.so")
    [ -z "$absent" ] || { packages="$qt $xcb"; missing="$missing $absent"; }
  elif [ -n "${WAYLAND_DISPLAY:-}" ]; then
    absent=$(absent_from "$plugins/libqwayland.so")
    [ -z "$absent" ] || { packages="$qt $wayland"; missing="$missing $absent"; }
  fi
  if [ "$purpose" = test ]; then
    for program in Xvfb xauth xdotool openbox; do
      command -v "$program" >/dev/null 2>&1 || { packages="$packages $testing"; missing="$missing $program"; break; }
    done
  fi
  missing=$(echo $(printf '%s\n' $missing | sort -u))
}

look
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "Missing on this system: $missing" >&2
  echo "Install them with your package manager (Debian calls the packages: $packages), then run make again." >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "Missing on this system: $missing" >&2
  echo "Run this line, then make again:" >&2
  echo "  sudo apt-get install --no-install-recommends $packages" >&2
  exit 1
fi

echo "Installing system packages: $packages"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -q && apt-get install -q -y --no-install-recommends $packages; } </dev/null >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"

look
[ -z "$packages" ] || { echo "Still missing after installing: $missing" >&2; exit 1; }
