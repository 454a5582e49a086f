"""Generates one ID of node 7, and decodes it."""

import flakeid

generator = flakeid.Generator(node=7)  # node 7 of 1024
id = generator.next_id()
print(id, flakeid.to_base62(id), flakeid.decode(id))
