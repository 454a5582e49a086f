"""Celery tasks that make IDs: celery -A tasks worker --concurrency 4."""

import os
from functools import cache
from pathlib import Path

from celery import Celery

import flakeid

# Files instead of a message broker, so that the example runs anywhere. Use your own broker here.
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
    """Leased by the first task of a process, and not by programs that only send tasks."""
    url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
    return flakeid.lease(url, namespace="orders")


@app.task
def make_order():
    # As text: JSON readers such as JavaScript's do not keep 64-bit numbers exact.
    return {"id": str(generator().next_id()), "pid": os.getpid()}
