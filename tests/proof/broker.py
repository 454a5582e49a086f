"""Brokers, for any number of brokers, blocks, nodes, sub-grants and ticks (I11, I12, I13, I15).

A broker holds a block under a grant of the store, as any holder does: `lease.py` and `runs.py` prove about `promised`
of these grants what the store's actions below assume. A broker grants nodes from rows in memory. The memory may be lost
at any time, and the store then grants the block again. A client of a broker is a holder too, so what `lease.py` proves
about generators holds with the windows of sub-grants, which do not overlap.
"""

from z3 import And, BoolRef, Bools, Const, DeclareSort, Function, Implies, Ints, Not, Or

import relations as rules
from solver import BOOL, INT, Change, Report, State, every, largest

Block, Node, Grant, SubGrant = map(DeclareSort, ("Block", "Node", "Grant", "SubGrant"))

block = Function("block", Grant, Block)
made = Function("made", Grant, INT)  # the order in which the store made the grants
start = Function("start", Grant, INT)
under = Function("under", SubGrant, Grant)
node = Function("node", SubGrant, Node)
sub_made = Function("sub_made", SubGrant, INT)
sub_start = Function("sub_start", SubGrant, INT)

SIGNATURE = {
    "exists": (Grant, BOOL),
    "promised": (Grant, INT),  # the highest fence that the store confirmed for the grant, or that of its release
    "responds": (Grant, BOOL),  # the broker has the rows of the grant in memory, and grants nodes from them
    "fence": (Grant, INT),  # the latest fence that the broker knows to be confirmed
    "used": (Grant, INT),  # the tick after the last tick that the broker granted
    "row_exists": (Grant, Node, BOOL),
    "row_fence": (Grant, Node, INT),
    "sub_exists": (SubGrant, BOOL),
    "current": (SubGrant, BOOL),  # the broker's row has this sub-grant, with its token
    "sub_promised": (SubGrant, INT),  # the highest fence that a response confirms, or that of the release
}
a, b = State("before", SIGNATURE), State("after", SIGNATURE)
change = Change(a, b)
x, s = Const("x", Grant), Const("s", SubGrant)
wanted, window, after, clock, max_ahead, end, highest = Ints("wanted window after clock max_ahead end highest")
used_until, stale, high = Ints("used_until stale high")
live, is_token, is_next_token = Bools("live is_token is_next_token")


def invariant(z: State) -> BoolRef:
    """Returns the inductive invariant."""

    @every(Grant)
    def grants(g):
        return Implies(z.exists(g), And(
            start(g) <= z.used(g), z.used(g) <= z.promised(g),  # I13
            Implies(z.responds(g), And(z.used(g) <= z.fence(g), z.fence(g) <= z.promised(g))),
        ))  # fmt: skip

    @every(Grant, Grant)
    def order(g, h):
        both = And(z.exists(g), z.exists(h), block(g) == block(h), g != h)
        return Implies(both, And(made(g) != made(h), Implies(made(g) < made(h), z.promised(g) <= start(h))))

    @every(SubGrant)
    def sub_grants(s):
        g = under(s)
        return Implies(z.sub_exists(s), And(
            z.exists(g), start(g) <= sub_start(s),  # I12
            sub_start(s) <= z.sub_promised(s), z.sub_promised(s) <= z.used(g),  # I11, as `used` is at most `fence`
            Implies(z.responds(g), And(z.row_exists(g, node(s)), z.sub_promised(s) <= z.row_fence(g, node(s)))),
        ))  # fmt: skip

    @every(Grant, Node)
    def rows(g, n):
        return Implies(And(z.responds(g), z.row_exists(g, n)), z.row_fence(g, n) <= z.used(g))

    @every(SubGrant, SubGrant)
    def sub_order(s, t):
        same = And(z.sub_exists(s), z.sub_exists(t), under(s) == under(t), node(s) == node(t), s != t)
        return Implies(same, And(
            sub_made(s) != sub_made(t),
            Implies(sub_made(s) < sub_made(t), And(z.sub_promised(s) <= sub_start(t), Not(z.current(s)))),
        ))  # fmt: skip

    current = every(SubGrant)(lambda s: Implies(z.current(s), z.sub_exists(s)))
    responding = every(Grant)(lambda g: Implies(z.responds(g), z.exists(g)))
    return And(grants, order, sub_grants, rows, sub_order, current, responding)


def unique(z: State) -> BoolRef:
    """I1: the windows of two sub-grants of a node do not overlap, even if two brokers granted them."""

    @every(SubGrant, SubGrant, INT)
    def holds(s, t, tick):
        inside = lambda s: And(z.sub_exists(s), sub_start(s) <= tick, tick < z.sub_promised(s))
        same_node = And(node(s) == node(t), block(under(s)) == block(under(t)))
        return Implies(And(inside(s), inside(t), same_node), s == t)

    return holds


def store_grants() -> BoolRef:
    """The store grants a block. The fence is at or above each earlier fence, or the floor of a restored store is."""
    above = every(Grant)(lambda g: Implies(And(a.exists(g), block(g) == block(x)), And(
        made(g) < made(x), a.promised(g) <= start(x))))  # fmt: skip
    return And(Not(a.exists(x)), above, start(x) + 2 <= high, change(
        exists=(x, True), promised=(x, high), responds=(x, True), fence=(x, high), used=(x, start(x)),
        row_exists=lambda g, n: And(a.row_exists(g, n), g != x),
    ))  # fmt: skip


def sub_grant(block_start: object, block_fence: object, row_fence: object, process: BoolRef) -> BoolRef:
    """A broker makes the sub-grant `s` of a free node."""
    g = under(s)
    answer = rules.sub_grant(
        a.row_exists(g, node(s)), live, row_fence, after, window, clock, max_ahead, block_start, block_fence, end
    )
    is_latest = every(SubGrant)(lambda t: Implies(a.sub_exists(t), sub_made(t) < sub_made(s)))
    return And(process, answer["allowed"], Not(a.sub_exists(s)), is_latest, sub_start(s) == answer["start"], change(
        used=(g, largest(a.used(g), answer["fence"])),
        row_exists=(g, node(s), True), row_fence=(g, node(s), answer["fence"]),
        sub_exists=(s, True), sub_promised=(s, answer["fence"]),
        current=lambda t: Or(t == s, And(a.current(t), Or(under(t) != g, node(t) != node(s)))),
    ))  # fmt: skip


def sub_renew(holds: BoolRef, block_fence: object) -> BoolRef:
    """A broker renews the sub-grant `s`."""
    g = under(s)
    fence = a.row_fence(g, node(s))
    answer = rules.sub_renew(
        a.row_exists(g, node(s)), holds, is_token, is_next_token, sub_start(s), fence, sub_start(s), wanted,
        highest, end, block_fence,
    )  # fmt: skip
    return And(a.responds(g), a.sub_exists(s), answer["allowed"], change(
        used=(g, largest(a.used(g), answer["fence"])), row_fence=(g, node(s), answer["fence"]),
        sub_promised=(s, answer["fence"]),
    ))  # fmt: skip


g = under(s)
sub_row = a.row_fence(g, node(s))
release = rules.release(True, a.current(s), sub_start(s), sub_row, used_until)


def store_release(responds: BoolRef, least: object) -> BoolRef:
    """The store lowers the fence of the block that the broker has released."""
    fence = rules.release(True, True, start(x), a.promised(x), least)["fence"]
    return And(a.exists(x), responds, change(promised=(x, fence)))


ACTIONS = {
    "the store grants a block, perhaps again": store_grants(),
    "the store raises the fence of a block below all later grants": And(
        a.exists(x), high >= a.promised(x), change(promised=(x, high)),
        every(Grant)(lambda h: Implies(
            And(a.exists(h), block(h) == block(x), made(x) < made(h)), high <= start(h)))),
    "a broker uses a confirmed fence": And(
        a.responds(x), a.fence(x) <= high, high <= a.promised(x), change(fence=(x, high))),
    "a broker grants a node": sub_grant(start(g), a.fence(g), sub_row, a.responds(g)),
    "a broker renews a node": sub_renew(a.current(s), a.fence(g)),
    "a holder releases a node": And(a.responds(g), release["allowed"], change(
        row_fence=(g, node(s), release["fence"]), sub_promised=(s, release["fence"]), current=(s, False))),
    "a broker frees an expired node": And(a.responds(g), change(current=(s, False))),
    "a broker loses its memory, is forked, or gives a block up": change(
        responds=(x, False), current=lambda s: And(a.current(s), under(s) != x)),
    "a block is released": store_release(Not(a.responds(x)), a.used(x)),
}  # fmt: skip
MUTANTS = {
    "a window ends a tick beyond the block's fence (I11)": sub_grant(start(g), a.fence(g) + 1, sub_row, a.responds(g)),
    "a renewal ends a tick beyond the block's fence (I11)": sub_renew(a.current(s), a.fence(g) + 1),
    "a window may start before the block's grant (I12)": sub_grant(0, a.fence(g), sub_row, a.responds(g)),
    "a block is released at the start of its grant (I13)": store_release(Not(a.responds(x)), start(x)),
    "a block is released while its broker grants its nodes (I13)": store_release(True, a.used(x)),
    "a forked child grants from the rows of its parent (I15)": sub_grant(start(g), a.fence(g), stale, a.responds(g)),
    "a broker uses a fence before it is confirmed": And(a.responds(x), a.fence(x) <= high, change(fence=(x, high))),
    "a sub-grant that the row no longer has is renewed": sub_renew(True, a.fence(g)),
    "rows are used again after the block was lost": sub_grant(start(g), a.fence(g), sub_row, a.exists(g)),
}


def prove() -> None:
    """Checks this part."""
    report = Report("broker")
    initial = [every(Grant)(lambda g: And(Not(a.exists(g)), Not(a.responds(g))))]
    initial.append(every(SubGrant)(lambda s: And(Not(a.sub_exists(s)), Not(a.current(s)))))
    report.holds("the first state has the invariant", initial, invariant(a))
    report.holds("the invariant implies I1 across brokers", [invariant(a)], unique(a))
    report.actions([invariant(a)], invariant(b), ACTIONS, MUTANTS, {})
