"""The tasks of `celery_tasks` for a pool process that first imports flakeid in a task."""

import os

from celery import Celery

redis = os.environ["FLAKEID_REDIS"]
app = Celery("lazy_celery_tasks", broker=redis, backend=redis)


@app.task
def make(count: int) -> list[str]:
    import flakeid  # noqa: PLC0415

    global generator  # noqa: PLW0603 - the process keeps its generator
    generator = flakeid.lease(os.environ["FLAKEID_STORE"])
    return [str(id) for id in generator.next_ids(count)]
