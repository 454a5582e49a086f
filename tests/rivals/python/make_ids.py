"""Prints ten IDs of each Python package: see ../README.md."""

import time
from collections.abc import Callable

from snowflake import SnowflakeGenerator
from sonyflake import SonyFlake
from tsidpy import TSID


def show(name: str, layout: str, make: Callable[[], int]) -> None:
    """Print ten IDs, generated 3 ms apart."""
    ids = []
    for _ in range(10):
        time.sleep(0.003)
        ids.append(str(make()))
    print(name, layout, *ids, sep="\t")


plain = SnowflakeGenerator(42)
sonyflake = SonyFlake()
show("snowflake-id", "plain,flakeid", lambda: next(plain))
show("sonyflake-py", "sonyflake", sonyflake.next_id)
show("tsidpy", "tsid", lambda: TSID.create().number)
