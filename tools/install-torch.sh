#!/bin/sh
# Installs the PyTorch that the benchmarks compare with: the CPU build, 0.75 GB in .venv.
#
# On Linux x86_64 the package index's plain build brings several GB of CUDA libraries, so there the
# build is asked for by its local version: from the configured sources first, then from PyTorch's own.
# Without it the benchmarks still run and leave the comparisons out.
set -u
version=2.13.0
.venv/bin/python -c 'import torch' 2>/dev/null && exit 0

echo "Installing PyTorch $version (CPU build) into .venv …"
install() { .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }
case $(uname -s)-$(uname -m) in
  Linux-x86_64)
    install "torch==$version+cpu" 2>/dev/null && exit 0
    # The dependencies come from the usual index: PyTorch's serves old ones of some.
    install --retries 1 --timeout 20 --no-deps --index-url https://download.pytorch.org/whl/cpu \
      "torch==$version+cpu" && install "torch==$version+cpu" && exit 0 ;;
  *) install "torch==$version" && exit 0 ;;
esac
echo "PyTorch could not be installed, so the comparisons with it are left out." >&2
