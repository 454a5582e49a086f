"""Leases only from nodes that an older library does not use: it keeps nodes 0 to 511."""

import os

import flakeid

url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")

# This layout has Twitter's bits with the epoch of the older library.
layout = flakeid.Layout.parse("t41.n10.s12@2020-01-01T00:00:00Z/1ms")

with flakeid.lease(url, namespace="moved", layout=layout, nodes=(512, 1023)) as generator:
    id = generator.next_id()
    assert flakeid.decode(id, layout).node >= 512
    print(id, layout.descriptor)
