"""Tests of a process on a host whose clock is eight hours wrong for three seconds."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

import flakeid

# The process generates an ID for each line that it reads.
PROGRAM = """
import sys, flakeid
generator = flakeid.lease(sys.argv[1])
for _ in sys.stdin:
    try:
        print(generator.next_id(), flush=True)
    except flakeid.FlakeIdError as error:
        print(error.code, flush=True)
"""


class Host:
    """A process that reads a clock of its own, through libfaketime."""

    def __init__(self, folder: Path, url: str):
        self.clock = folder / "clock"
        self.last = 0
        self.set_error(0)
        (library,) = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
        fake = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self.clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, url],
            env=os.environ | fake,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def set_error(self, hours: int) -> None:
        written = self.clock.with_suffix(".new")
        written.write_text(f"{hours * 3600:+d}\n")
        written.replace(self.clock)

    def next_id(self) -> bool:
        """Whether the process generated an ID, which must be above the last one."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer in {"FLAKEID_LEASE_EXPIRED", "FLAKEID_CLOCK_ROLLBACK", "FLAKEID_CLOCK_SKEW"}:
            return False
        assert int(answer) > self.last
        self.last = int(answer)
        return True


@contextmanager
def served(store: str) -> Iterator[str]:
    run = [sys.executable, "-P", "-m", "flakeid", "serve", "--drain", "0s", "--store", store]
    command = [*run, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def check_jump(folder: Path, url: str, hours: int) -> None:
    host = Host(folder, url)
    with host.process:
        assert host.next_id()
        host.set_error(hours)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            host.next_id()
            time.sleep(0.02)
        host.set_error(0)
        right = issued = time.monotonic()
        while time.monotonic() < right + 5 or issued == right:
            if host.next_id():
                issued = time.monotonic()
            # Two seconds without an ID are enough on a machine that does nothing else.
            assert time.monotonic() < issued + 10
            time.sleep(0.05)
        # A wrong floor would move the IDs of the next process ahead of the clock.
        with flakeid.lease(url, open_wait=0) as other:
            now = time.time()
            assert -1 < flakeid.decode(other.next_id()).timestamp.timestamp() - now < 60
        assert host.process.stdin is not None
        host.process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="libfaketime sets the clock")
def test_ids_continue_after_the_clock_was_wrong(tmp_path):
    def check(through_broker: bool, hours: int) -> None:
        folder = tmp_path / f"{through_broker}{hours}"
        folder.mkdir()
        url = f"sqlite://{folder}/flakeid.db"
        with served(url) if through_broker else nullcontext(url) as store:
            check_jump(folder, store, hours)

    with ThreadPoolExecutor() as threads:
        list(threads.map(check, [False, False, True, True], [8, -8, 8, -8]))
