#!/bin/sh
# Installs the PyTorch that the benchmarks compare with: the CPU build, 0.75 GB in .venv.
#
# On Linux x86-64 a plain "torch" brings several GB of CUDA libraries, so there the CPU build is asked for
# by its local version. Where pip's sources do not have it, that is said, and the benchmarks leave the
# comparisons out.
set -u
version=2.13.0
.venv/bin/python -c 'import torch' 2>/dev/null && exit 0

wanted=torch==$version
[ "$(uname -s)-$(uname -m)" != Linux-x86_64 ] || wanted=$wanted+cpu
echo "Installing $wanted into .venv …"
.venv/bin/python -m pip install -qq --disable-pip-version-check "$wanted" 2>/dev/null && exit 0

echo "$wanted is not in pip's sources. To compare with PyTorch, install its CPU build, version $version," >&2
echo "into .venv the way PyTorch's own site says, then run make bench again." >&2
