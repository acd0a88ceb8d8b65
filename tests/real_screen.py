"""A virtual screen with a window manager, to drive the real program as a user does.

    def test_something(real_screen):
        program = real_screen.start(sys.executable, "-m", "visualizer")
        window = real_screen.window("Glassformer")
        real_screen.xdotool("key", "--window", window, "Right")
        picture = real_screen.picture()         # (height, width, 3) uint8

Every wait is bounded, and all that was started is ended with the test.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

Found = TypeVar("Found")

PROGRAMS = ("Xvfb", "openbox", "xdotool")
ROOT = Path(__file__).parents[1]


class RealScreen:
    """An Xvfb of its own with openbox on it, 24 bits deep."""

    def __init__(self, folder: Path, width: int = 1600, height: int = 1000) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        read_end, write_end = os.pipe()
        size = f"{width}x{height}x24"
        arguments = ["-screen", "0", size, "-nolisten", "tcp", "-noreset", "-fbdir", str(folder)]
        self._spawn(["Xvfb", "-displayfd", str(write_end), *arguments], pass_fds=(write_end,))
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            if not select.select([pipe], [], [], 30)[0]:
                raise TimeoutError("Xvfb did not say its display within 30 s")
            number = pipe.readline().strip()
        if not number:
            raise RuntimeError("Xvfb ended before it had a display")
        self.environment = os.environ | {"DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        self.environment.pop("WAYLAND_DISPLAY", None)
        self._spawn(["openbox"], env=self.environment)
        self.until(self._has_window_manager, 30, "openbox to manage windows")
        self.xdotool("mousemove", str(width - 1), str(height - 1))  # the pointer is in the picture

    def _spawn(self, command: list[str], **options) -> subprocess.Popen:
        log = (self.folder / f"{Path(command[0]).name}-{len(self.processes)}.log").open("w")
        with log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options
            )
        process.log = Path(log.name)
        self.processes.append(process)
        return process

    def _has_window_manager(self) -> bool:
        # The number of the desktop is a property that only a window manager sets.
        return self._xdotool("get_desktop").returncode == 0

    def _xdotool(self, *arguments: str, timeout: float = 30) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["xdotool", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def start(self, *command: str, **environment: str) -> subprocess.Popen:
        """Start a program on the screen; `.log` is the file with what it prints."""
        return self._spawn(list(command), env=self.environment | environment, cwd=ROOT)

    def until(self, look: Callable[[], Found], seconds: float, what: str) -> Found:
        """What `look` finds, asked again until it is true; TimeoutError says what was awaited."""
        end = time.monotonic() + seconds
        while not (found := look()):
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds} s for {what}")
            time.sleep(0.05)
        return found

    def xdotool(self, *arguments: str, timeout: float = 30) -> str:
        """What xdotool prints."""
        done = self._xdotool(*arguments, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"xdotool {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def window(self, title: str, seconds: float = 60) -> str:
        """The id of the visible window whose title holds `title`, activated."""

        def look() -> str:
            done = self._xdotool("search", "--onlyvisible", "--name", title)
            return done.stdout.strip().split("\n")[0]

        window = self.until(look, seconds, f"a window named {title}")
        self.xdotool("windowactivate", "--sync", window)
        return window

    def picture(self) -> np.ndarray:
        """What is on the screen now: (height, width, 3) uint8, red green blue."""
        content = (self.folder / "Xvfb_screen0").read_bytes()
        header = np.frombuffer(content, ">u4", 25)  # the xwd format: 25 big-endian words first
        header_size, width, height = (int(header[i]) for i in (0, 4, 5))
        row_bytes, colours = int(header[12]), int(header[19])
        start = header_size + 12 * colours
        pixels = np.frombuffer(content, np.uint8, row_bytes * height, start)
        blue_green_red = pixels.reshape(height, row_bytes // 4, 4)[:, :width, :3]
        return blue_green_red[..., ::-1].copy()

    def end(self) -> None:
        """End the programs first and the screen last."""
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


@pytest.fixture
def real_screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealScreen]:
    """A virtual screen with a window manager; only Linux has one."""
    if sys.platform != "linux":
        pytest.skip("Xvfb is a Linux program here")
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    assert not missing, f"{', '.join(missing)} missing: make test installs or names them"
    screen = RealScreen(tmp_path_factory.mktemp("screen"))
    try:
        yield screen
    finally:
        screen.end()
