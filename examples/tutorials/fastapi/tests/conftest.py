"""The tests use SQLite files in place of PostgreSQL, both for the orders and for the lease."""

import os
import tempfile

# pytest imports this file before the tests, which import the application.
folder = tempfile.mkdtemp()
os.environ["DATABASE_URL"] = f"sqlite:///{folder}/orders.db"
# Not the file of the orders, because two copies of SQLite must not open one file.
os.environ["FLAKEID_STORE"] = f"sqlite://{folder}/flakeid.db"
