"""A WSGI application that leases its node before gunicorn forks; responses are IDs as bytes."""

import os
from array import array

import flakeid

generator = flakeid.lease(os.environ["FLAKEID_STORE"], nodes=(0, 8), max_wait=30)
# The master uses its node before it starts workers.
first = generator.next_id()


def application(environ, start_response):
    ids = array("Q", bytes(8 * int(environ["QUERY_STRING"])))
    filled = generator.fill(ids)
    body = ids[:filled].tobytes()
    headers = [
        ("Content-Type", "application/octet-stream"),
        ("Content-Length", str(len(body))),
        ("X-Pid", str(os.getpid())),
        ("X-First", str(first)),
    ]
    start_response("200 OK", headers)
    return [body]
