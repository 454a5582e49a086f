"""An AWS Lambda function that leases a node from DynamoDB, and returns an ID for each call."""

import os
from functools import cache

import flakeid


@cache
def generator():
    """Lease a node for the first call of this environment. Later calls use the same lease."""
    # A frozen environment cannot renew its lease, so a call may find that the lease has ended. The
    # generator then leases a node again, for which the call waits.
    url = os.environ["FLAKEID_STORE"]
    return flakeid.lease(url, namespace="orders", max_wait=2)


def handler(_event, _context):
    # JavaScript would round a number of this size.
    return {"id": str(generator().next_id())}
