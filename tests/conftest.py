"""What holds for every test: no network, no screen, no trace in the user's home."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import pytest

pytest_plugins = ["tests.real_screen"]

hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, print_blob=True
)
hypothesis.settings.load_profile("repeatable")

REACHING_OUT = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")


def refuse_the_network(event: str, arguments: tuple) -> None:
    if event in REACHING_OUT:
        address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        # A path is a socket of this machine; an internet address is a tuple or a host's name.
        if event == "socket.getaddrinfo" or isinstance(address, tuple):
            raise RuntimeError(f"a test reached for the network: {event} {address!r}")


# An audit hook sees every socket of the interpreter and cannot be taken back within the run.
sys.addaudithook(refuse_the_network)


# A run started in the background has these ignored, and so would the processes that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# As in the program itself: a cycle that holds Qt objects must not be collected by a worker's
# thread, where deleting them crashes the process now and then.
gc.disable()
TESTS_BETWEEN_COLLECTIONS = 50
finished = itertools.count(1)


@pytest.fixture(autouse=True)
def collected_here():
    """Collect reference cycles in the thread of the tests, every so many tests."""
    yield
    if next(finished) % TESTS_BETWEEN_COLLECTIONS == 0:
        gc.collect()


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory, monkeypatch):
    """Settings, caches and data of each test lie in a folder of its own."""
    from PySide6.QtCore import QStandardPaths

    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home))
    QStandardPaths.setTestModeEnabled(True)
    return home
