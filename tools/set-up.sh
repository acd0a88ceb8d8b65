#!/bin/sh
# Makes .venv and installs this project with its dependencies into it.
#
#   set-up.sh PYTHON WHAT        for example: set-up.sh python3 '.[test]'
set -eu
choice=$1
what=$2

if ! version=$("$choice" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); then
  echo "Glassformer needs Python 3.11 or newer, and '$choice' does not run. Name one: make run PYTHON=python3.12" >&2
  exit 1
fi
if ! "$choice" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "Glassformer needs Python 3.11 or newer, and '$choice' is $version. Name one: make run PYTHON=python3.12" >&2
  exit 1
fi

# A half-made or broken environment (its Python upgraded or removed) is made anew.
if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
  echo "Making .venv with Python $version …"
  if ! "$choice" -m venv --clear .venv; then
    echo "Python's venv module is incomplete. On Debian or Ubuntu: sudo apt-get install python3-venv" >&2
    exit 1
  fi
fi

echo "Installing the dependencies into .venv (about 400 MB, only when pyproject.toml has changed) …"
[ -t 1 ] && quiet="" || quiet=-qq
exec .venv/bin/python -m pip install $quiet --disable-pip-version-check --editable "$what"
