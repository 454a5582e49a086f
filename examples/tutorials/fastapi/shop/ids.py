"""The generator of IDs. Each process leases its own node when it creates its first order."""

import os
from functools import cache

import flakeid

DATABASE_URL = os.environ["DATABASE_URL"]


@cache
def generator() -> flakeid.Generator:
    return flakeid.lease(os.environ.get("FLAKEID_STORE", DATABASE_URL), namespace="orders")


def release() -> None:
    """Release the node, if this process has leased one."""
    if generator.cache_info().currsize:
        generator().close()
