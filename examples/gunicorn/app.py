"""A WSGI application that leases before it forks: gunicorn --preload app:application."""

import json
import os

import flakeid

# This runs once, in gunicorn's master process. Each worker leases its own node for its first ID.
url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
generator = flakeid.lease(url, namespace="orders")


def application(_environ, start_response):
    answer = {"id": str(generator.next_id()), "node": generator.node, "pid": os.getpid()}
    body = json.dumps(answer).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]
