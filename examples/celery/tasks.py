"""Celery tasks that generate IDs: celery -A tasks worker --concurrency 4."""

import os
from functools import cache
from pathlib import Path

from celery import Celery

import flakeid

# Files replace a message broker, so that the example runs anywhere. Use your own broker here.
queue = Path(os.environ.get("QUEUE_FOLDER", "queue"))
queue.mkdir(exist_ok=True)
app = Celery("tasks", broker="filesystem://", backend=f"file://{queue.resolve()}")
app.conf.broker_transport_options = {
    "data_folder_in": str(queue),
    "data_folder_out": str(queue),
    "control_folder": str(queue / "control"),
}


@cache
def generator():
    """Return the generator. Programs that only send tasks do not lease a node."""
    url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
    return flakeid.lease(url, namespace="orders")


@app.task
def make_order():
    # The ID is sent as a string, because JSON readers such as JavaScript's round 64-bit numbers.
    return {"id": str(generator().next_id()), "pid": os.getpid()}
