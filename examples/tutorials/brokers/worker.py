"""Prints ten IDs a second, and the node that generated each ID."""

import os
import signal
import sys
import time

import flakeid

# `docker compose stop` sends SIGTERM. A normal exit releases the node.
signal.signal(signal.SIGTERM, lambda *_: sys.exit())

with flakeid.lease(os.environ["FLAKEID_STORE"], namespace="orders") as generator:
    while True:
        print(generator.next_id(), generator.node, flush=True)
        time.sleep(0.1)
