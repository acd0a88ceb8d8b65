"""Fixtures of the tests of the core."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.small_run import write_pairs


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A small file of pairs to train on."""
    return write_pairs(tmp_path)
