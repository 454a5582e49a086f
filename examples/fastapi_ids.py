"""A web service whose coroutines request IDs. Another thread leases the node."""

import os
from functools import cache
from typing import Annotated

from fastapi import Depends, FastAPI

import flakeid

app = FastAPI()


@cache
def generator() -> flakeid.Generator:
    return flakeid.lease(os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db"), namespace="orders")


@app.post("/orders", status_code=201)
async def create(ids: Annotated[flakeid.Generator, Depends(generator)]) -> dict[str, str]:
    return {"id": str(await ids.next_id_async())}
