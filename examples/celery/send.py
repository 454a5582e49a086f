"""Sends twenty tasks, and waits for their IDs."""

from tasks import make_order

waiting = [make_order.delay() for _ in range(20)]
orders = [task.get(timeout=60) for task in waiting]
ids = {order["id"] for order in orders}
assert len(ids) == len(orders), orders
print(f"{len(ids)} IDs of {len({order['pid'] for order in orders})} workers, none twice")
