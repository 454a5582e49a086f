"""Prints five IDs of a leased node. No two copies of this program print the same ID."""

import os
import sys

import flakeid

url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")


def log(event):
    """Print an event. The library calls this function on the lease's own thread."""
    print(event.kind, event.node, event.error, file=sys.stderr)


with flakeid.lease(url, namespace="orders", on_event=log) as generator:
    for _ in range(5):
        print(generator.next_id())
