"""One leased generator in a pool of forked processes, each of which leases its own node."""

import multiprocessing
import os

import flakeid

url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
generator = flakeid.lease(url, namespace="orders")


def make(count):
    return os.getpid(), generator.next_ids(count)


if __name__ == "__main__":
    generator.next_id()  # the parent's node is in use before the fork
    with multiprocessing.get_context("fork").Pool(4) as pool:
        batches = pool.map(make, [1000] * 8, chunksize=1)
        pool.close()
        pool.join()  # so that the children exit by themselves and release their nodes
    ids = [id for _, batch in batches for id in batch]
    nodes = {flakeid.decode(id).node for id in ids}
    assert len(set(ids)) == 8000
    assert generator.node not in nodes
    print(f"{len(ids)} IDs of {len({pid for pid, _ in batches})} children, none twice")
