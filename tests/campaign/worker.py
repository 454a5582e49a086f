"""A worker of the fault campaign in Python, on the system clock.

It leases a node, issues IDs, forks, releases the node and starts again, until the campaign ends or
kills it.
"""

import argparse
import array
import mmap
import os
import random
import signal
import struct
import time
from pathlib import Path

import flakeid

# These indexes match src/shared_memory.rs.
OVER, COUNTS, TALLIES = 0, 13, 16
IDS, OPENED, FAILURES, FORKS, DISORDER, STOP = 0, 1, 7, 8, 9, 10
NODES = 8


class Worker:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.parent = os.getppid()
        self.rng = random.Random(f"{options.seed}/{options.slot}/{options.run}")
        self.depth = 0
        self.id_logs = 0
        self.ends = float("inf")
        with (options.folder / "shared_memory").open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), 0)

    def word(self, index: int) -> int:
        return struct.unpack_from("<Q", self.shared, index * 8)[0]

    def count(self, tally: int, more: int) -> None:
        # Forked children use the same counters, so a count may be lost, but never an ID.
        index = COUNTS + self.options.slot * TALLIES + tally
        struct.pack_into("<Q", self.shared, index * 8, self.word(index) + more)

    def is_over(self) -> bool:
        stop = self.word(COUNTS + self.options.slot * TALLIES + STOP)
        asked = self.depth == 0 and (stop or os.getppid() != self.parent)
        return bool(self.word(OVER) or asked or time.monotonic() >= self.ends)

    def failed(self, error: Exception) -> None:
        self.count(FAILURES, 1)
        log = self.options.folder / "events" / f"{self.options.slot:02}.log"
        with log.open("a") as out:
            out.write(f"{time.time_ns() // 1_000_000} {os.getpid()} {error!r}\n")

    def run(self) -> None:
        while not self.is_over():
            try:
                with flakeid.lease(
                    self.options.url,
                    namespace="campaign",
                    nodes=None if self.options.any_node else (0, NODES - 1),
                    window=0.5,
                    ttl=0.25,
                    max_wait=0.25,
                ) as generator:
                    self.count(OPENED, 1)
                    self.issue_ids(generator, 0)
                time.sleep(self.rng.uniform(0.2, 1))
            except flakeid.FlakeIdError as error:
                self.failed(error)
                time.sleep(self.rng.uniform(0.005, 0.06))

    def issue_ids(self, generator: flakeid.Generator, last: int) -> None:
        self.id_logs += 1
        slot, run = self.options.slot, self.options.run
        name = f"{slot:02}-{run}-{os.getpid()}-{self.id_logs}"
        path = self.options.folder / "leased" / name
        id_log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        until = time.monotonic() + self.rng.uniform(0.3, 2.5)
        failures = 0
        while not self.is_over() and time.monotonic() < until and failures < 4:
            began = time.monotonic()
            try:
                ids = generator.next_ids(self.rng.randrange(1, 4096))
            except flakeid.FlakeIdError as error:
                failures += 1
                self.failed(error)
                time.sleep(self.rng.uniform(0.001, 0.02))
                continue
            failures = 0
            data = array.array("Q", ids).tobytes()
            while data:
                data = data[os.write(id_log, data) :]
            self.count(IDS, len(ids))
            if ids[0] <= last or ids != sorted(set(ids)):
                self.count(DISORDER, 1)
            last = ids[-1]
            if self.depth < 2 and self.rng.random() < 0.03:
                self.fork(generator, last)
            due = len(ids) / self.options.rate
            time.sleep(max(0, due - (time.monotonic() - began)))
        os.close(id_log)

    def fork(self, generator: flakeid.Generator, last: int) -> None:
        self.count(FORKS, 1)
        lifetime = self.rng.uniform(0.1, 2.5)
        if os.fork() == 0:
            done = 4
            try:
                self.depth += 1
                self.ends = time.monotonic() + lifetime
                self.rng = random.Random(os.getpid())
                self.issue_ids(generator, last)
                if self.rng.random() < 0.5:
                    generator.close()
                done = 0
            finally:
                os._exit(done)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--url", required=True)
    # Only the workers in Rust use the last two options.
    for name in ["slot", "run", "group", "seed", "rate", "long-window", "long-ttl"]:
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--any-node", action="store_true")
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
