"""Memory between things in use goes back to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model_core.free_memory import give_back
from tests.long.process_memory import memory_of

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_is_free_between_things_in_use_is_given_back():
    if not give_back():
        pytest.skip("this C library keeps nothing back")
    # too small to be mapped on their own: every second one keeps the heap as large as it is
    blocks = [np.ones(12_000) for _ in range(1000)]
    del blocks[::2]
    before = memory_of("self").resident
    give_back()
    # 500 blocks of 94 KB
    assert before - memory_of("self").resident > 30


# In a process of its own: where the heap has a gap that is large enough, the array lies there.
LARGE = """
import numpy as np
from model_core.free_memory import keep_apart
from tests.long.process_memory import memory_of
if not keep_apart(2**19):
    raise SystemExit
# the library alone would take the next ones into its heap after these
for _ in range(3):
    np.ones(2**20)
large = np.ones(2**20)
small = [np.ones(100) for _ in range(1000)]
before = memory_of("self").resident
del large
print(before - memory_of("self").resident)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_large_array_goes_back_at_once_however_many_came_before():
    ran = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True, cwd=ROOT
    )
    if not ran.stdout:
        pytest.skip("this C library keeps nothing back")
    # 8 MB
    assert float(ran.stdout) > 7
