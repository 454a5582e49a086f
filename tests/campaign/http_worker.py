"""A worker of the fault campaign that leases from brokers over plain HTTP.

It follows the guide's chapter on brokers and generates the IDs itself, without any code of flakeid.
It leases a node, issues IDs, forks, releases the node and starts again, until the campaign ends or
kills it. It reads the clock of its group.
"""

import argparse
import array
import contextlib
import http.client
import json
import mmap
import os
import random
import secrets
import signal
import struct
import time
from collections.abc import Callable
from pathlib import Path

# These indexes match src/shared_memory.rs.
OVER, CLOCKS, COUNTS, TALLIES = 0, 1, 13, 16
IDS, OPENED, GRANTS, RENEWALS, FENCED_OFF, RELEASED, FAILURES, FORKS = 0, 1, 2, 3, 4, 6, 7, 8
STOP = 10
# The layout is Twitter's.
EPOCH, SEQUENCES = 1288834974657, 4096
LEASES = "/v1/campaign/leases"


class BrokerError(Exception):
    """A broker returned an error."""

    def __init__(self, status: int, error: dict) -> None:
        super().__init__(f"{status} {error.get('code')}: {error.get('message')}")
        self.refusal = error.get("refusal")


class Brokers:
    """The brokers of a URL, in the order in which they are tried."""

    def __init__(self, addresses: list[str]) -> None:
        self.addresses = addresses

    def without(self, address: str) -> "Brokers":
        return Brokers([other for other in self.addresses if other != address])

    def ask(self, address: str, method: str, path: str, body: dict) -> dict:
        timeout = 2.5 if method == "POST" else 1
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=timeout)
        with contextlib.closing(connection):
            headers = {"Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body), headers)
            reply = connection.getresponse()
            answer = json.loads(reply.read() or "null")
        if reply.status >= 300:
            if not isinstance(answer, dict) or "error" not in answer:
                raise ValueError(f"status {reply.status}: this is not a broker")
            raise BrokerError(reply.status, answer["error"])
        if method != "DELETE" and (not isinstance(answer, dict) or "fence" not in answer):
            raise ValueError("this is not a broker")
        return answer

    def ask_any(self, method: str, path: str, body: dict) -> dict:
        """Return the first successful response. A broker that fails is tried last from then on."""
        failure: Exception = ConnectionError("the list has no other broker")
        for _ in self.addresses:
            try:
                return self.ask(self.addresses[0], method, path, body)
            except FAILURES_OF_REQUESTS as error:
                failure = error
                self.addresses.append(self.addresses.pop(0))
        raise failure


# Errors if a broker refuses, does not respond, or is not a broker.
FAILURES_OF_REQUESTS = (BrokerError, OSError, http.client.HTTPException, ValueError)


class Lease:
    """A lease of one node. It must not be used in a forked child (rule 4 of the guide)."""

    def __init__(
        self, brokers: Brokers, clock: Callable[[], int], after: int, window_ms: int
    ) -> None:
        self.brokers, self.clock, self.window_ms = brokers, clock, window_ms
        body = {"now": clock(), "token": secrets.token_hex(16), "after": after, "pid": os.getpid()}
        body |= {"window_ms": window_ms, "ttl_ms": 2 * window_ms}
        self.grant = brokers.ask_any("POST", LEASES, body)
        self.position = self.grant["start"] * SEQUENCES
        self.renewed = time.monotonic()
        # A request that got no response, and has to be repeated unchanged (rule 2).
        self.pending = None
        # Whether the node can no longer be renewed; the rest of the window may be used (rule 3).
        self.is_lost = False
        # Whether the last renewal failed for another reason (rule 4).
        self.is_failing = False

    def tick(self) -> int:
        return self.clock() - EPOCH

    def is_due(self) -> bool:
        left = self.grant["fence"] - max(self.tick(), self.position // SEQUENCES)
        # Even if fences are far ahead of the clock, the row expires.
        is_late = time.monotonic() - self.renewed > self.window_ms / 1000
        return not self.is_lost and (left < self.window_ms * 2 // 3 or is_late)

    def renew(self) -> None:
        grant = self.grant
        if self.pending is None:
            wanted = max(self.tick(), self.position // SEQUENCES) + self.window_ms
            self.pending = {"start": grant["start"], "token": grant["token"], "now": self.clock()}
            self.pending |= {"next": grant["token"][:16] + secrets.token_hex(8)}
            self.pending |= {"confirmed": grant["fence"], "wanted": max(wanted, grant["fence"])}
            self.pending |= {"ttl_ms": 2 * self.window_ms, "broker": grant["broker"]}
        path = f"{LEASES}/{grant['node']}"
        self.is_failing = True
        try:
            answer = self.brokers.ask(grant["broker"], "PATCH", path, self.pending)
        except BrokerError as error:
            # The broker has responded, so the next request may differ.
            self.pending = None
            self.is_lost = error.refusal in ("fenced-off", "restored")
            raise
        grant["fence"], grant["token"] = answer["fence"], self.pending["next"]
        self.renewed, self.pending, self.is_failing = time.monotonic(), None, False

    def elsewhere(self) -> "Lease | None":
        """Return a lease of another broker if this one needs a replacement that reaches further."""
        left = self.grant["fence"] - max(self.tick(), self.position // SEQUENCES)
        if self.is_lost or not self.is_failing or left > self.window_ms // 2:
            return None
        others = self.brokers.without(self.grant["broker"])
        lease = Lease(others, self.clock, self.after() + 1, self.window_ms)
        lease.brokers = self.brokers
        if lease.grant["fence"] > self.grant["fence"]:
            return lease
        lease.close()
        return None

    def take(self, count: int) -> array.array:
        """Return up to `count` IDs, all of them below the fence (rule 1)."""
        grant = self.grant
        begin = max(self.position, self.tick() * SEQUENCES)
        end = min(begin + count, grant["fence"] * SEQUENCES)
        ids, node = array.array("Q"), grant["node"] << 12
        while begin < end:
            tick, first = divmod(begin, SEQUENCES)
            some = min(SEQUENCES - first, end - begin)
            base = tick << 22 | node | first
            ids.extend(range(base, base + some))
            begin += some
            self.position = begin
        return ids

    def after(self) -> int:
        """Return the tick after the last used one."""
        return -(-self.position // SEQUENCES)

    def close(self) -> None:
        body = {"token": self.grant["token"], "used_until": self.after()}
        path = f"{LEASES}/{self.grant['node']}"
        self.brokers.ask(self.grant["broker"], "DELETE", path, body)


class Worker:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.parent = os.getppid()
        self.rng = random.Random(f"{options.seed}/{options.slot}/{options.run}")
        self.depth = 0
        self.id_logs = 0
        self.ends = float("inf")
        hosts = options.url.removeprefix("http://").split(",")
        self.brokers = Brokers([f"http://{host}" for host in hosts])
        self.rng.shuffle(self.brokers.addresses)
        with (options.folder / "shared_memory").open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), 0)

    def word(self, index: int, form: str = "<Q") -> int:
        return struct.unpack_from(form, self.shared, index * 8)[0]

    def clock(self) -> int:
        """Return the time of the group's clock in Unix milliseconds."""
        return time.time_ns() // 1_000_000 + self.word(CLOCKS + self.options.group, "<q")

    def count(self, tally: int, more: int = 1) -> None:
        # Forked children use the same counters, so a count may be lost, but never an ID.
        index = COUNTS + self.options.slot * TALLIES + tally
        struct.pack_into("<Q", self.shared, index * 8, self.word(index) + more)

    def is_over(self) -> bool:
        stop = self.word(COUNTS + self.options.slot * TALLIES + STOP)
        asked = self.depth == 0 and (stop or os.getppid() != self.parent)
        return bool(self.word(OVER) or asked or time.monotonic() >= self.ends)

    def failed(self, error: Exception) -> None:
        self.count(FAILURES)
        log = self.options.folder / "events" / f"{self.options.slot:02}.log"
        with log.open("a") as out:
            out.write(f"{time.time_ns() // 1_000_000} {os.getpid()} {error!r}\n")

    def run(self, after: int) -> None:
        """Lease one node after another, and issue IDs from the tick `after` on."""
        while not self.is_over():
            try:
                lease = Lease(self.brokers, self.clock, after, self.rng.choice([300, 500, 700]))
            except FAILURES_OF_REQUESTS as error:
                self.failed(error)
                time.sleep(self.rng.uniform(0.005, 0.06))
                continue
            self.count(OPENED)
            while lease is not None:
                self.count(GRANTS)
                following = self.issue_ids(lease)
                after = lease.after()
                if self.rng.random() < 0.7:
                    try:
                        lease.close()
                        self.count(RELEASED)
                    except FAILURES_OF_REQUESTS as error:
                        self.failed(error)
                lease = following

    def issue_ids(self, lease: Lease) -> Lease | None:
        """Issue IDs for some time. Return the lease that replaces this one, if any."""
        self.id_logs += 1
        slot, run = self.options.slot, self.options.run
        name = f"{slot:02}-{run}-{os.getpid()}-{self.id_logs}"
        path = self.options.folder / "leased" / name
        id_log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        until = time.monotonic() + self.rng.uniform(0.3, 5)
        retry_at, following = 0.0, None
        while not self.is_over() and time.monotonic() < until:
            began = time.monotonic()
            if lease.is_due() and began >= retry_at:
                try:
                    lease.renew()
                    self.count(RENEWALS)
                except FAILURES_OF_REQUESTS as error:
                    self.count(FENCED_OFF, int(lease.is_lost))
                    self.failed(error)
                    retry_at = time.monotonic() + self.rng.uniform(0.02, 0.1)
                    try:
                        following = lease.elsewhere()
                    except FAILURES_OF_REQUESTS as error:
                        self.failed(error)
                    if following is not None:
                        break
            ids = lease.take(self.rng.randrange(1, 4096))
            if not ids:
                if lease.is_lost:
                    break
                time.sleep(0.01)
                continue
            data = ids.tobytes()
            while data:
                data = data[os.write(id_log, data) :]
            self.count(IDS, len(ids))
            if self.depth < 2 and self.rng.random() < 0.02:
                self.fork(lease.after())
            due = len(ids) / self.options.rate
            time.sleep(max(0, due - (time.monotonic() - began)))
        os.close(id_log)
        return following

    def fork(self, after: int) -> None:
        self.count(FORKS)
        lifetime = self.rng.uniform(0.1, 2.5)
        if os.fork() == 0:
            done = 4
            try:
                self.depth += 1
                self.ends = time.monotonic() + lifetime
                self.rng = random.Random(os.getpid())
                self.run(after)
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
    # Brokers choose the nodes.
    parser.add_argument("--any-node", action="store_true", required=True)
    Worker(parser.parse_args()).run(0)


if __name__ == "__main__":
    main()
