"""The generator that the settings name. It is imported when a process requests its first ID."""

import os

import flakeid

url = os.environ.get("FLAKEID_STORE", "sqlite://flakeid.db")
generator = flakeid.lease(url, namespace="shop")
