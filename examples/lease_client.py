"""Leases a node from `flakeid serve`, and generates IDs on it, with only the standard library."""

import json
import os
import secrets
import socket
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def ask(method, url, body):
    headers = {"Content-Type": "application/json"}
    request = Request(url, json.dumps(body).encode(), headers, method=method)
    with urlopen(request, timeout=1) as reply:
        return json.loads(reply.read() or "null")


def now_ms():
    return time.time_ns() // 1_000_000


class Lease:
    """One node of a namespace. Use it in only one thread, and not in a forked child."""

    def __init__(self, server, namespace="default"):
        self.leases = f"/v1/{namespace}/leases"
        # This layout is Twitter's: 41 bits of milliseconds, 10 bits of node, 12 bits of sequence.
        self.epoch = 1288834974657
        self.server, self.position = server, 0
        self.acquire()

    def acquire(self):
        body = {"now": now_ms(), "token": secrets.token_hex(16)}
        # `after` excludes ticks of earlier IDs, even if they were generated on another node.
        body |= {"after": (self.position >> 12) + 1}
        body |= {"host": socket.gethostname(), "pid": os.getpid()}
        self.grant = ask("POST", self.server + self.leases, body)
        self.position = self.grant["start"] << 12

    def renew(self):
        grant = self.grant
        next_token = grant["token"][:16] + secrets.token_hex(8)
        body = {"start": grant["start"], "token": grant["token"], "next": next_token}
        body |= {"confirmed": grant["fence"], "wanted": self.tick() + grant["max_window_ms"]}
        body |= {"now": now_ms(), "broker": grant["broker"]}
        try:
            # Renewals go to the broker that granted the node, which may be another broker.
            url = f"{grant['broker']}{self.leases}/{grant['node']}"
            grant["fence"] = ask("PATCH", url, body)["fence"]
            grant["token"] = next_token
        except (HTTPError, OSError):
            # Another process may have the node from the fence on, so it is not renewed again.
            self.acquire()

    def tick(self):
        return now_ms() - self.epoch

    def next_id(self):
        # The lease is renewed long before its window ends. A real client uses a thread for this.
        if self.grant["fence"] - self.tick() < self.grant["max_window_ms"] * 2 // 3:
            self.renew()
        position = max(self.position, self.tick() << 12)
        if position >= self.grant["fence"] << 12:
            raise TimeoutError("the lease has ended")
        self.position = position + 1
        return (position >> 12) << 22 | self.grant["node"] << 12 | position & 0xFFF

    def close(self):
        body = {"token": self.grant["token"], "used_until": (self.position >> 12) + 1}
        ask("DELETE", f"{self.grant['broker']}{self.leases}/{self.grant['node']}", body)


lease = Lease("http://localhost:7117")
for _ in range(3):
    print(lease.next_id())
    time.sleep(2)
lease.close()
