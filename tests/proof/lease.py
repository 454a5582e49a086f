"""The lease rule within one run of a store, for any number of nodes, grants, generators and ticks.

An inductive invariant: each action of a store, a holder, a generator or an operator keeps it, and it implies I1.
Requests and responses may be lost, delayed or repeated, because each action may happen at any later time: a response of
any age raises a limit, and a repeated acquire makes another grant with the same token. A store's clock, expiry and
take-over are arbitrary values here, so uniqueness within a run does not depend on them.
"""

from z3 import And, ArithRef, BoolRef, Bools, Const, Consts, DeclareSort, Function, If, Implies, Ints, Not, Or

import relations as rules
from solver import BOOL, INT, Change, Report, State, every, largest

Node, Grant, Token, Generator = map(DeclareSort, ("Node", "Grant", "Token", "Generator"))

# Constants. A grant or generator that does not exist yet has arbitrary values. The action that makes it determines the
# values, except `accepted` and `uses`, which say in advance what the holder will do.
node = Function("node", Grant, Node)
made = Function("made", Grant, INT)  # the order in which the store made the grants
start = Function("start", Grant, INT)
token = Function("token", Grant, Token)  # one token for each request, even if it arrives twice
uses = Function("uses", Generator, Grant, BOOL)  # a generator has one grant for each of its nodes
first = Function("first", Generator, INT)  # the generator's first tick
accepted = Function("accepted", Grant, BOOL)  # the holder got this response first, and dropped any other

SIGNATURE = {
    "floor": (INT,),
    "row_exists": (Node, BOOL),
    "quarantined": (Node, BOOL),
    "fence": (Node, INT),
    "exists": (Grant, BOOL),
    "current": (Grant, BOOL),  # the row has this grant, with its token
    "promised": (Grant, INT),  # the highest fence that a response confirms to the holder, or that of the release
    "released": (Grant, BOOL),  # the holder has given the grant up, and ignores responses about it
    "begun": (Generator, BOOL),
    "used": (Generator, INT),  # the tick after the last tick in which it issued an ID, at least `first`
    "limit": (Generator, INT),
    "closed": (Generator, BOOL),
}
a, b = State("before", SIGNATURE), State("after", SIGNATURE)
change = Change(a, b)
# The parameters of the actions. Each check covers all their values.
n, (x, c), t = Const("n", Node), Consts("x c", Grant), Const("t", Generator)
tick, wanted, window, after, clock, max_ahead, end = Ints("tick wanted window after clock max_ahead end")
used_until, starts, fences, highest, older_fence = Ints("used_until starts fences highest older_fence")
response, known, others, next_tick = Ints("response known others next_tick")
live, row_fixed, reuse, fixed, is_next_token = Bools("live row_fixed reuse fixed is_next_token")


def invariant(s: State) -> BoolRef:
    """Returns the inductive invariant."""

    @every(Grant)
    def grants(g):
        return Implies(s.exists(g), And(
            start(g) <= s.promised(g),
            s.promised(g) <= s.fence(node(g)),
            # No later grant of the node has the same start, so `renew` may identify a grant by its start.
            Implies(And(accepted(g), Not(s.released(g))), start(g) + 2 <= s.promised(g)),
            s.row_exists(node(g)),
        ))  # fmt: skip

    @every(Grant, Grant)
    def order(g, h):
        both = And(s.exists(g), s.exists(h), node(g) == node(h), g != h)
        return Implies(both, And(
            made(g) != made(h),
            Implies(made(g) < made(h), s.promised(g) <= start(h)),  # I4
            Implies(made(g) < made(h), Not(s.current(g))),  # I7
        ))  # fmt: skip

    @every(Grant)
    def current(g):
        return Implies(s.current(g), s.exists(g))

    @every(Node)
    def rows(n):
        return Implies(s.quarantined(n), s.row_exists(n))

    @every(Generator, Grant)
    def generators(t, g):
        return Implies(And(s.begun(t), uses(t, g)), And(
            s.exists(g), accepted(g),
            start(g) <= first(t), first(t) <= s.used(t), s.used(t) <= s.limit(t), s.limit(t) <= s.promised(g),  # I5
            Implies(s.closed(t), s.limit(t) == s.used(t)),  # I6
            Implies(s.released(g), s.closed(t)),
        ))  # fmt: skip

    @every(Generator, Generator, Grant)
    def one_after_the_other(t, u, g):
        both = And(s.begun(t), s.begun(u), t != u, uses(t, g), uses(u, g))
        ends = lambda t, u: And(s.closed(t), s.used(t) <= first(u))
        return Implies(both, Or(ends(t, u), ends(u, t)))

    return And(grants, order, current, rows, generators, one_after_the_other)


@every(Grant, Grant)
def one_response(g, h) -> BoolRef:
    """A holder accepts one response to a request, and no two requests have the same token."""
    return Implies(And(accepted(g), accepted(h), token(g) == token(h)), g == h)


def unique(s: State) -> BoolRef:
    """I1: no two generators issue IDs of one node in one tick."""

    @every(Generator, Generator, Grant, Grant, INT)
    def holds(t, u, g, h, tick):
        issues = lambda t, g: And(s.begun(t), uses(t, g), first(t) <= tick, tick < s.used(t))
        return Implies(And(issues(t, g), issues(u, h), node(g) == node(h)), t == u)

    return holds


def persisted(s: State) -> BoolRef:
    """I2: every tick of an ID is below a persisted fence of its node."""

    @every(Generator, Grant)
    def holds(t, g):
        return Implies(And(s.begun(t), uses(t, g)), s.used(t) <= s.fence(node(g)))

    return holds


def acquire(row_fence: object = None) -> BoolRef:
    """A store makes the grant `x`. Whether the row is live, and whether it may be taken over, is arbitrary."""
    answer = rules.grant(
        a.row_exists(n), a.quarantined(n), live, row_fixed, a.fence(n) if row_fence is None else row_fence,
        reuse, fixed, after, window, clock, max_ahead, a.floor, end,
    )  # fmt: skip
    is_latest = every(Grant)(lambda h: Implies(a.exists(h), made(h) < made(x)))
    return And(
        answer["allowed"], Not(a.exists(x)), is_latest, node(x) == n, start(x) == answer["start"],
        change(
            row_exists=(n, True), fence=(n, answer["fence"]), exists=(x, True), promised=(x, answer["fence"]),
            current=lambda h: Or(h == x, And(a.current(h), node(h) != n)), released=(x, False),
        ),
    )  # fmt: skip


def renew(is_current: BoolRef, is_token: BoolRef, start_of: ArithRef) -> BoolRef:
    """A renewal of the holder of `x` arrives while the row has the grant `c`.

    If the row has the next token, the renewal has already been applied, and is only confirmed again.
    """
    answer = rules.renew(
        a.row_exists(node(c)), is_current, is_token, is_next_token, start(c), a.fence(node(c)), start_of, wanted,
        highest, end,
    )  # fmt: skip
    confirms = lambda g: Or(g == c, And(g == x, Not(a.released(x))))
    return And(
        answer["allowed"], a.exists(x), a.exists(c), accepted(x), node(x) == node(c),
        change(
            fence=(node(c), answer["fence"]),
            promised=lambda g: If(confirms(g), answer["fence"], a.promised(g)),
        ),
    )  # fmt: skip


def release(ended: BoolRef) -> BoolRef:
    """The release of the holder of `x` arrives while the row has the grant `c`."""
    is_token = And(a.current(c), token(c) == token(x))
    answer = rules.release(True, is_token, start(c), a.fence(node(c)), used_until)
    used = every(Generator)(lambda t: Implies(And(a.begun(t), uses(t, x)), a.used(t) <= used_until))
    return And(
        answer["allowed"], ended, used, a.exists(x), accepted(x), node(x) == node(c),
        change(fence=(node(c), answer["fence"]), promised=(c, answer["fence"]), current=(c, False)),
    )  # fmt: skip


def begin(accepts: BoolRef, alone: BoolRef) -> BoolRef:
    """A process begins the generator `t` with all grants that it uses."""
    answer = rules.begin(starts, fences, used_until)
    return And(
        answer["allowed"], Not(a.begun(t)), first(t) == answer["first"], accepts, alone,
        change(begun=(t, True), used=(t, first(t)), limit=(t, answer["limit"]), closed=(t, False)),
    )  # fmt: skip


has_windows = every(Grant)(lambda g: Implies(uses(t, g), And(
    a.exists(g), accepted(g), Not(a.released(g)), start(g) <= starts, fences <= a.promised(g),
)))  # fmt: skip
one_at_a_time = every(Generator, Grant)(lambda u, g: Implies(
    And(a.begun(u), uses(u, g), uses(t, g)), And(a.closed(u), a.used(u) <= used_until),
))  # fmt: skip
is_open = And(a.begun(t), Not(a.closed(t)))
has_ended = every(Generator)(lambda t: Implies(And(a.begun(t), uses(t, x)), a.closed(t)))


def raise_limit(is_confirmed: BoolRef) -> BoolRef:
    """A response with the fence `response` raises the limit of `t`; `known` and `others` are confirmed fences."""
    answer = rules.raise_limit(True, is_open, known, response, others)
    of_others = every(Grant)(lambda g: Implies(And(uses(t, g), g != x), others <= a.promised(g)))
    return And(answer["allowed"], uses(t, x), known <= a.promised(x), is_confirmed, of_others,
               change(limit=(t, largest(a.limit(t), answer["limit"]))))  # fmt: skip


def issue(limit: ArithRef) -> BoolRef:
    """A generator issues an ID, at any reading of the clock."""
    answer = rules.issue(next_tick, limit, clock, max_ahead)
    return And(is_open, first(t) <= next_tick, answer["allowed"],
               change(used=(t, largest(a.used(t), answer["tick"] + 1))))  # fmt: skip


ACTIONS = {
    "acquire": acquire(),
    "renew": renew(a.current(c), token(c) == token(x), start(x)),
    "release": release(a.released(x)),
    "begin a generator, on one node or several": begin(has_windows, one_at_a_time),
    "raise the limit after a response of any age": raise_limit(response <= a.promised(x)),
    "issue": issue(a.limit(t)),
    "close the generator": And(a.begun(t), change(closed=(t, True), limit=(t, a.used(t)))),
    "give the grant up": And(has_ended, change(released=(x, True))),
    "an operator frees the node": change(current=(c, False)),
    "an operator quarantines the node": change(
        quarantined=(n, True), row_exists=(n, True), current=lambda g: And(a.current(g), node(g) != n)),
    "an operator lifts the quarantine": change(quarantined=(n, False)),
    "fast-forward": And(tick >= a.floor, change(floor=tick)),
}  # fmt: skip
MUTANTS = {
    "a grant starts at the clock, whatever the fence is": acquire(row_fence=0),
    "the limit rises when a renewal is sent": raise_limit(True),
    "a grant that the row no longer has is renewed": renew(a.exists(c), token(c) == token(x), start(x)),
    "a renewal is accepted whatever the start of its grant is": renew(a.current(c), token(c) == token(x), start(c)),
    "released while it still issues": release(Not(a.released(x))),
    "the tick of the fence itself is issued": issue(a.limit(t) + 1),
    "a generator begins below the process's last tick": begin(has_windows, True),
    "a generator of several nodes takes the window of one": begin(a.exists(x), one_at_a_time),
    "a row is deleted when it expires": change(
        row_exists=(n, False), current=lambda g: And(a.current(g), node(g) != n)),
}
is_older = And(older_fence >= 0, older_fence <= a.fence(n))
DROPPED = {
    "A fixed node": begin(True, True),
    "Two primaries of a store": And(is_older, acquire(row_fence=older_fence)),
    "Older data in a running server": And(is_older, change(fence=(n, older_fence))),
    "Deleted files or edited fences": change(row_exists=(n, False), fence=(n, 0)),
}  # fmt: skip


def prove() -> None:
    """Checks this part."""
    report = Report("lease")
    given = [invariant(a), one_response]
    initial = [every(Grant)(lambda g: Not(a.exists(g))), every(Generator)(lambda t: Not(a.begun(t)))]
    initial += every(Grant)(lambda g: Not(a.current(g))), every(Node)(lambda n: Not(a.quarantined(n)))
    report.holds("the first state has the invariant", initial, invariant(a))
    report.holds("the invariant implies I1", given, unique(a))
    report.holds("the invariant implies I2", given, persisted(a))
    report.holds("I10: a quarantined node is never granted", [*given, acquire()], Not(a.quarantined(n)))
    report.actions(given, invariant(b), ACTIONS, MUTANTS, DROPPED)
    report.drops("Two requests with the same token", [invariant(a), ACTIONS["release"]], invariant(b))
