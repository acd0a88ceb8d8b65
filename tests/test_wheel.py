"""The built wheel holds what a checkout holds, and finds it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from model_core import bundled

ROOT = Path(__file__).parents[1]

ASK_BUNDLED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("bundled", sys.argv[1])
bundled = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bundled)
print(bundled.resources())
print(*bundled.names())
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The wheel's content in a folder, as an installation lays it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("glassformer-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_two_packages_and_nothing_else(unpacked):
    top = {path.name for path in unpacked.iterdir() if path.suffix != ".dist-info"}
    assert top == {"model_core", "visualizer"}


def test_the_wheel_carries_every_resource(unpacked):
    def content(folder: Path) -> dict[str, int]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.stat().st_size for path in files}

    assert content(unpacked / "model_core" / "resources") == content(ROOT / "resources")


def test_an_installation_finds_its_own_resources(unpacked):
    done = subprocess.run(
        [sys.executable, "-I", "-c", ASK_BUNDLED, str(unpacked / "model_core" / "bundled.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    folder, *names = done.stdout.splitlines()
    assert Path(folder) == (unpacked / "model_core" / "resources").resolve()
    assert names == [" ".join(bundled.names())]


def test_the_wheel_has_its_licences_and_its_commands(unpacked):
    (information,) = unpacked.glob("*.dist-info")
    commands = (information / "entry_points.txt").read_text()
    assert "glassformer = visualizer.__main__:main" in commands
    assert {path.name for path in (information / "licenses").rglob("*") if path.is_file()} == {
        "LICENSE",
        "LICENSES.md",
        "NotoSansSC-gb2312.LICENSE.txt",
    }


def test_an_unknown_bundled_name_is_answered_with_the_known_ones():
    with pytest.raises(LookupError, match=r"no bundled model is named '\.\./en-zh'"):
        bundled.path_of("../en-zh")
