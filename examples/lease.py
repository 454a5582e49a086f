"""Five IDs of a leased node: however many copies run at once, no ID comes twice."""

import os
import sys

import flakeid

url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")


def log(event):
    """Is called on the lease's own thread."""
    print(event.kind, event.node, event.error, file=sys.stderr)


with flakeid.lease(url, namespace="orders", on_event=log) as generator:
    for _ in range(5):
        print(generator.next_id())
