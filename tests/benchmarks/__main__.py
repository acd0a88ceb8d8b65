"""Prints speed as ratios: python -m tests.benchmarks [NAME ...]   (all of them without names)"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import time
from importlib import import_module

# Each module has run() -> Iterator[Figure | LeftOut], which says its figures as it finds them.
BENCHMARKS = {
    "forward": "tests.benchmarks.forward",
    "tracing": "tests.benchmarks.tracing",
    "training": "tests.benchmarks.training",
    "decoding": "tests.benchmarks.decoding",
    "stages": "tests.benchmarks.stages",
    "window": "tests.benchmarks.window",
    "long": "tests.benchmarks.long",
    "decoding_page": "tests.benchmarks.decoding_page",
}
PACKAGES = ("numpy", "torch", "threadpoolctl", "PySide6-Essentials", "pyqtgraph")


def surroundings() -> str:
    """Cores, threads and versions: what the absolute times depend on."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {package}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{cores} cores, {load}; {', '.join(found)}; {blas()}"


def blas() -> str:
    """The library behind NumPy's products."""
    import numpy
    from threadpoolctl import threadpool_info

    numpy.zeros((2, 2)) @ numpy.zeros((2, 2))
    pools = [p for p in threadpool_info() if p["user_api"] == "blas"]
    return ", ".join(f"{p['internal_api']} {p['version']} {p['architecture']}" for p in pools)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}, only {', '.join(BENCHMARKS)}")
    print(surroundings(), flush=True)
    for name in names:
        start = time.perf_counter()
        for figure in import_module(BENCHMARKS[name]).run():
            print(f"- {figure}", flush=True)
        print(f"  [{name}: {time.perf_counter() - start:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
