"""Requests IDs from `flakeid serve`, with only the standard library."""

import json
from urllib.request import Request, urlopen

request = Request("http://localhost:7117/v1/default/ids?count=3", method="POST")
with urlopen(request, timeout=5) as reply:
    for id in json.load(reply)["ids"]:
        print(int(id))
