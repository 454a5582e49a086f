"""Creates the public form of an ID, and opens it again."""

from datetime import UTC, datetime
from pathlib import Path

import flakeid

keyring = Path("public.keys").read_text()
users = flakeid.PublicIds(keyring, "user", prefix="usr", since=datetime(2026, 1, 1, tzinfo=UTC))

id = flakeid.Generator(node=7).next_id()
text = users.seal(id)  # usr_a…
assert users.open(text) == id
print(text)
