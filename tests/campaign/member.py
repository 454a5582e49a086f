"""Members of a fleet in Python, for the measurement of brokers: threads with a lease each.

They behave like the members in Rust and write the same files.
"""

import argparse
import array
import json
import sys
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import flakeid

PERIOD = 0.01


class Member(threading.Thread):
    """A member, which issues an ID every 10 ms until the program ends."""

    def __init__(self, options: argparse.Namespace, stop: threading.Event) -> None:
        super().__init__()
        self.options, self.stop = options, stop
        self.ids = array.array("Q")
        self.longest = self.first = self.late = 0.0
        self.renewed = 0
        self.failures: Counter[str] = Counter()

    def note(self, event: flakeid.LeaseEvent) -> None:
        if event.kind == "renewed":
            self.renewed += 1
        elif event.error is not None and event.kind != "fenced-off":
            self.failures[event.error.code] += 1

    def opened(self) -> flakeid.Generator | None:
        while not self.stop.is_set():
            try:
                return flakeid.lease(
                    self.options.url,
                    namespace="failover",
                    layout=self.options.layout,
                    on_event=self.note,
                )
            except flakeid.FlakeIdError as error:
                self.failures[error.code] += 1
        return None

    def run(self) -> None:
        begun = time.monotonic()
        generator = self.opened()
        if generator is None:
            return
        self.first = time.monotonic() - begun
        last = wake = time.monotonic()
        while not self.stop.is_set():
            try:
                self.ids.append(generator.next_id())
                now = time.monotonic()
                self.longest, last = max(self.longest, now - last), now
            except flakeid.FlakeIdError as error:
                self.failures[error.code] += 1
            wake = max(wake + PERIOD, time.monotonic())
            time.sleep(max(0.0, wake - time.monotonic()))
            self.late = max(self.late, time.monotonic() - wake)
        self.longest = max(self.longest, time.monotonic() - last)
        generator.close()

    def write(self, folder: Path, number: int) -> None:
        (folder / f"{number}.ids").write_bytes(self.ids.tobytes())
        layout = flakeid.Layout.parse(self.options.layout)
        nodes = [layout.unpack(one).node for one in self.ids]
        moves = sum(one != other for one, other in pairwise(nodes))
        full = self.failures["FLAKEID_NO_FREE_NODE"]
        measured = {
            "longest_ms": round(self.longest * 1000),
            "first_ms": round(self.first * 1000),
            "late_ms": round(self.late * 1000),
            "moves": moves,
            "renewed": self.renewed,
            "failed": self.failures.total() - full,
            "no_free_node": full,
            "failure_codes": {code: count for code, count in self.failures.items() if count},
        }
        (folder / f"{number}.member").write_text(json.dumps(measured))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--layout", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    stop = threading.Event()
    members = [Member(options, stop) for _ in range(options.threads)]
    for member in members:
        member.start()
    # Standard input also ends when the parent process ends.
    sys.stdin.read()
    stop.set()
    for number, member in enumerate(members):
        member.join()
        member.write(options.folder, number)


if __name__ == "__main__":
    main()
