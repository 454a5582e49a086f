"""Prints an ID that no other process has."""

import flakeid

with flakeid.lease("sqlite://flakeid.db") as generator:
    print(generator.next_id())  # 2126905504767672320
