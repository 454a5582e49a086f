"""Celery tasks that generate IDs. Each pool process leases its node in its first task."""

import os
from functools import cache

from celery import Celery

import flakeid

redis = os.environ["FLAKEID_REDIS"]
app = Celery("celery_tasks", broker=redis, backend=redis)


@cache
def generator() -> flakeid.Generator:
    return flakeid.lease(os.environ["FLAKEID_STORE"])


@app.task
def make(count: int) -> list[str]:
    return [str(id) for id in generator().next_ids(count)]
