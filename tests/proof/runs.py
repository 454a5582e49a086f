"""Leases across runs of a store: restarts, failovers and restored backups of any age, and I14 (continuation).

One node, any number of grants, runs and copies of its row. Each write creates a version of the row, and a new run may
begin with any version that ever existed. Each reading of a store's clock is within `max_skew` of the true time `now`,
and the clients' clocks are arbitrary. `tick` converts a time to a tick, and is only known to be monotonic.

`lease.py` proves that a generator issues IDs only below a confirmed fence, no matter which run of the store confirmed
it. This part proves that the windows `[start, promised)` of two grants do not overlap, even if a holder continues in
another run. A node begins with an empty grant, so that each version of the row has a grant.
"""

from z3 import And, ArithRef, BoolRef, Bools, Consts, DeclareSort, Function, If, Implies, Ints, Not, Or

import relations as rules
from solver import BOOL, INT, Change, Report, State, every, largest

Grant, Version, Run = map(DeclareSort, ("Grant", "Version", "Run"))
max_skew, quiet, max_ahead, max_window, end = Ints("max_skew quiet max_ahead max_window end")
tick = Function("tick", INT, INT)

# Constants. A grant, a version or a run that does not exist yet has arbitrary values.
start = Function("start", Grant, INT)
fixed = Function("fixed", Grant, BOOL)
made = Function("made", Grant, INT)  # the order in which all runs made the grants
made_at = Function("made_at", Grant, INT)  # the true time
made_in = Function("made_in", Grant, Run)
made_clock = Function("made_clock", Grant, INT)  # the reading of the store's clock

grant = Function("grant", Version, Grant)
held = Function("held", Version, BOOL)
fence = Function("fence", Version, INT)
run_of = Function("run_of", Version, Run)  # the incarnation that the row records
expires = Function("expires", Version, INT)
renewed = Function("renewed", Version, INT)  # the reading of the store's clock at the last renewal
renewed_at = Function("renewed_at", Version, INT)  # the true time of the last renewal

is_restored = Function("is_restored", Run, BOOL)  # every run except the namespace's first
began_at = Function("began_at", Run, INT)  # the true time at which the run was recorded
began_clock = Function("began_clock", Run, INT)
first_floor = Function("first_floor", Run, INT)

SIGNATURE = {
    "now": (INT,),
    "version": (Version,),
    "run": (Run,),
    "floor": (INT,),
    "quiet_until": (INT,),
    "exists": (Grant, BOOL),
    "promised": (Grant, INT),  # the highest fence that any run confirmed, or the tick after the last tick used
    "released": (Grant, BOOL),  # the holder has given the grant up, and ignores responses about it
    "kept": (Version, BOOL),  # a backup may contain the version
    "known": (Run, BOOL),
}
a, b = State("before", SIGNATURE), State("after", SIGNATURE)
change = Change(a, b)
x, (v, y), r = Consts("x", Grant)[0], Consts("v y", Version), Consts("r", Run)[0]
store_now, client_now, waited, after, window, wanted, ttl = Ints("store_now client_now waited after window wanted ttl")
used_until, confirmed, later, old_floor, old_quiet = Ints("used_until confirmed later old_floor old_quiet")
window_ms, shortest_ms, max_window_ms = Ints("window_ms shortest_ms max_window_ms")
by_fixed, quarantined, reuse = Bools("by_fixed quarantined reuse")
CLOCKS = [
    every(INT, INT)(lambda i, j: Implies(i <= j, tick(i) <= tick(j))),
    max_skew >= 0, quiet >= 0, max_ahead >= 0, max_window >= 0, waited >= 0,
    Implies(window_ms <= max_window_ms, window <= max_window),  # in ticks
]  # fmt: skip


def highest(time: ArithRef) -> ArithRef:
    """Returns the highest fence that may be confirmed while no client's clock is above the time (I9)."""
    return rules.highest_fence(tick(time), max_ahead, max_window, end)["fence"]


def near(reading: ArithRef, time: ArithRef) -> BoolRef:
    """A reading of a store's clock is within `max_skew` of the true time."""
    return And(reading - time <= max_skew, time - reading <= max_skew)


def invariant(s: State) -> BoolRef:
    """Returns the inductive invariant."""
    row = s.version

    @every(Grant)
    def grants(g):
        run = made_in(g)
        has_waited = And(made_clock(g) >= began_clock(run) + quiet, start(g) >= first_floor(run))
        return Implies(s.exists(g), And(
            start(g) <= s.promised(g),
            s.promised(g) <= highest(s.now + 2 * max_skew),  # I9: clients are at most `max_skew` ahead of a store
            # I4: the next grant is above all windows. For grants other than that of the row, this follows from `order`,
            # `versions` and `present`.
            s.promised(g) <= largest(fence(row), s.floor),
            s.known(run), began_at(run) <= made_at(g), made_at(g) <= s.now, near(made_clock(g), made_at(g)),
            Implies(is_restored(run), has_waited),
        ))  # fmt: skip

    @every(Grant, Grant)
    def order(g, h):
        is_later = And(made(g) < made(h), s.promised(g) <= start(h), made_at(g) <= made_at(h))
        return Implies(And(s.exists(g), s.exists(h), g != h, made(g) <= made(h)), is_later)

    @every(Run)
    def runs(r):
        # A last window ends at or below `highest(renewed)`. The reading `renewed` is at most `max_skew` above the true
        # time of the renewal, which was before `began_at`, which is at most another `max_skew` above `began_clock`. The
        # third `max_skew` in `latest_times` is for the fences that the earlier run confirmed.
        restored = And(near(began_clock(r), began_at(r)), first_floor(r) >= highest(began_clock(r) + 2 * max_skew))
        return Implies(s.known(r), And(
            began_at(r) <= began_at(s.run), began_at(r) <= s.now, Implies(is_restored(r), restored),
            Implies(r != s.run, is_restored(s.run)),
        ))  # fmt: skip

    @every(Version)
    def versions(v):
        return Implies(s.kept(v), And(
            s.exists(grant(v)), s.known(run_of(v)),
            start(grant(v)) <= fence(v), fence(v) <= highest(s.now + 2 * max_skew),
            Implies(Not(s.released(grant(v))), fence(v) <= s.promised(grant(v))),
            near(renewed(v), renewed_at(v)), began_at(run_of(v)) <= renewed_at(v), renewed_at(v) <= s.now,
            Implies(run_of(v) != s.run, renewed_at(v) <= began_at(s.run)),
        ))  # fmt: skip

    def renewable(v):
        return And(s.kept(v), held(v), Not(s.released(grant(v))))

    @every(Version)
    def reserved(v):
        """In the present run, a row reserves its node until it expires."""
        is_present = And(grant(v) == grant(row), run_of(row) == s.run, expires(v) <= expires(row))
        has_expired = expires(v) <= s.now + max_skew
        return Implies(And(renewable(v), run_of(v) == s.run, Not(fixed(grant(v)))), Or(has_expired, is_present))

    @every(Version, Grant)
    def later_grants(v, g):
        """Any grant that is later than that of a row was made after the row had expired, or in a later run."""
        is_later = And(renewable(v), s.exists(g), made(g) > made(grant(v)))
        had_expired = Or(expires(v) <= made_at(g) + max_skew, fixed(grant(v)))
        in_later_run = And(is_restored(made_in(g)), renewed_at(v) <= began_at(made_in(g)))
        return Implies(is_later, If(made_in(g) == run_of(v), had_expired, in_later_run))

    @every(Grant)
    def present(g):
        """A row of the present run has the latest grant, unless the holder of the row's grant has given the grant up.

        The windows of all grants that are later than the row's grant end at or below the floor.
        """
        is_later = And(s.exists(g), made(g) > made(grant(row)))
        is_open = Not(s.released(grant(row)))
        return Implies(is_later, And(s.promised(g) <= s.floor, Implies(is_open, run_of(row) != s.run)))

    waits = And(s.quiet_until >= began_clock(s.run) + quiet, s.floor >= first_floor(s.run))
    current = And(s.kept(row), s.known(s.run), Implies(is_restored(s.run), waits))
    return And(grants, order, runs, versions, reserved, later_grants, present, current)


def disjoint(s: State) -> BoolRef:
    """The windows of two grants do not overlap."""

    @every(Grant, Grant, INT)
    def holds(g, h, i):
        inside = lambda g: And(s.exists(g), start(g) <= i, i < s.promised(g))
        return Implies(And(inside(g), inside(h)), g == h)

    return holds


def write(new_grant: object, is_held: object, new_fence: object, new_run: object, *times: object) -> BoolRef:
    """The values of the new version `y` of the row."""
    values = zip((expires, renewed, renewed_at), times, strict=True)
    return And(
        Not(a.kept(y)), grant(y) == new_grant, held(y) == is_held, fence(y) == new_fence, run_of(y) == new_run,
        *[function(y) == value for function, value in values],
    )  # fmt: skip


latest = rules.latest_times(store_now, max_skew)
row = a.version
row_grant = grant(row)
is_this_run = run_of(row) == a.run
written = {"kept": (y, True), "version": y}
old_times = (expires(row), renewed(row), renewed_at(row))


def acquire(live: BoolRef, quiet_until: object = a.quiet_until, lowest: object = a.floor) -> BoolRef:
    """The store makes the grant `x`."""
    skew = rules.skew(store_now, client_now, waited)["skew"]
    admitted = rules.admit(store_now, quiet_until, skew, max_skew, window_ms, shortest_ms, max_window_ms)["allowed"]
    answer = rules.grant(
        True, quarantined, live, fixed(row_grant), fence(row), reuse, by_fixed, after, window,
        tick(client_now), max_ahead, lowest, end,
    )  # fmt: skip
    is_latest = every(Grant)(lambda g: Implies(a.exists(g), made(g) < made(x)))
    return And(
        near(store_now, a.now), admitted, answer["allowed"],
        Not(a.exists(x)), is_latest, start(x) == answer["start"], fixed(x) == by_fixed,
        made_at(x) == a.now, made_in(x) == a.run, made_clock(x) == store_now,
        write(x, True, answer["fence"], a.run, store_now + ttl, store_now, a.now),
        change(exists=(x, True), promised=(x, answer["fence"]), released=(x, False), **written),
    )  # fmt: skip


is_live = rules.is_live(expires(row), store_now, is_this_run)["live"]
confirm = lambda f: (row_grant, If(a.released(row_grant), a.promised(row_grant), largest(a.promised(row_grant), f)))


def renew() -> BoolRef:
    """The holder renews in the run that the row records."""
    answer = rules.renew(
        True, held(row), True, False, start(row_grant), fence(row), start(row_grant), wanted,
        highest(latest["renewal"]), end,
    )  # fmt: skip
    return And(
        is_this_run, near(store_now, a.now), answer["allowed"],
        write(row_grant, True, answer["fence"], a.run, largest(expires(row), store_now + ttl), store_now, a.now),
        change(promised=confirm(answer["fence"]), **written),
    )  # fmt: skip


def renew_older(
    at: object = renewed(row), until: object = expires(row), is_fixed: object = fixed(row_grant),
    bound: object = None, slack: object = max_skew,
) -> BoolRef:  # fmt: skip
    """The holder of a row of an earlier run continues its lease, or has a last window."""
    skew = rules.skew(store_now, client_now, waited)["skew"]
    answer = rules.renew_older(
        True, held(row), True, is_fixed, start(row_grant), fence(row), at, until, start(row_grant), confirmed, wanted,
        skew, store_now, slack, quiet, highest(latest["renewal"]), highest(renewed(row)) if bound is None else bound,
    )  # fmt: skip
    continued = write(
        row_grant, True, answer["fence"], a.run, largest(expires(row), store_now + ttl), store_now, a.now
    )
    last_window = write(row_grant, True, answer["fence"], run_of(row), *old_times)
    return And(
        Not(is_this_run), near(store_now, a.now), answer["allowed"], If(answer["continues"], continued, last_window),
        change(promised=confirm(answer["fence"]), **written),
    )  # fmt: skip


def begin_run(lowest: object, reading: BoolRef) -> BoolRef:
    """A new run begins with the version `v`, or a renewal proves that the run has lost data."""
    answer = rules.restored(old_floor, old_quiet, store_now, quiet, lowest)
    return And(
        a.kept(v), Not(a.known(r)), reading, is_restored(r), began_at(r) == a.now, began_clock(r) == store_now,
        first_floor(r) == answer["floor"],
        change(version=v, run=r, known=(r, True), floor=answer["floor"], quiet_until=answer["quiet_until"]),
    )  # fmt: skip


def free(until: object) -> BoolRef:
    """An operator takes the node from its holder."""
    return And(write(row_grant, False, fence(row), run_of(row), until, *old_times[1:]), change(**written))


release = rules.release(is_this_run, held(row), start(row_grant), fence(row), used_until)
ACTIONS = {
    "time passes": And(later >= a.now, change(now=later)),
    "acquire": acquire(is_live),
    "renew": renew(),
    "a renewal that was applied before is confirmed again": And(
        is_this_run, held(row), change(promised=confirm(fence(row)))),
    "continue, or have a last window": renew_older(),
    "give the grant up": And(
        start(x) <= used_until, used_until <= a.promised(x), change(released=(x, True), promised=(x, used_until))),
    "release": And(
        release["allowed"], a.released(row_grant), a.promised(row_grant) <= used_until,
        write(row_grant, False, release["fence"], a.run, 0, *old_times[1:]), change(**written)),
    "a new run begins": begin_run(highest(latest["floor"]), near(store_now, a.now)),
    "an operator frees or quarantines the node": free(rules.cut_off(fixed(row_grant), expires(row))["expires"]),
    "fast-forward": And(later >= a.floor, change(floor=later)),
}  # fmt: skip
MUTANTS = {
    "the floor of a new run allows for two skews": begin_run(highest(store_now + 2 * max_skew), near(store_now, a.now)),
    "a restored store grants at once": acquire(is_live, quiet_until=0),
    "a restored store grants below its floor": acquire(is_live, lowest=0),
    "a request for a fixed node takes over any live row": acquire(And(is_live, Not(by_fixed))),
    "a holder continues although its row has expired": renew_older(until=store_now + 2 * max_skew + 1),
    "a holder continues although another copy may have granted its node": renew_older(at=store_now),
    "a holder of a fixed node continues": renew_older(is_fixed=False),
    "the clocks of two runs agree": renew_older(slack=0),
    "a last window ends as late as one that was renewed just now": renew_older(bound=highest(store_now)),
}
DROPPED = {
    "A store's clock that is wrong by more than `max_skew`": begin_run(highest(latest["floor"]), True),
    "`flakeid leases release --now` before a restore": free(0),
    "`--fresh` for a namespace that existed": begin_run(0, near(store_now, a.now)),
    "An older state of all files of an SQLite store": And(a.kept(v), change(version=v)),
}  # fmt: skip


def prove() -> None:
    """Checks this part."""
    report = Report("runs")
    given = [*CLOCKS, invariant(a)]
    only_grant = every(Grant)(lambda g: Implies(a.exists(g), And(g == row_grant, a.released(g))))
    only_version = every(Version)(lambda v: Implies(a.kept(v), v == row))
    only_run = every(Run)(lambda r: Implies(a.known(r), And(r == a.run, Not(is_restored(r)))))
    empty = [start(row_grant) == 0, a.promised(row_grant) == 0, fence(row) == 0, tick(a.now) >= 0]
    empty.append(made_in(row_grant) == a.run)
    times = [made_clock(row_grant) == a.now, made_at(row_grant) == a.now, began_at(a.run) == a.now]
    times += [renewed(row) == a.now, renewed_at(row) == a.now]
    exist = [a.exists(row_grant), a.kept(row), a.known(a.run), run_of(row) == a.run, a.floor >= 0, end >= 2]
    initial = [*CLOCKS, only_grant, only_version, only_run, *empty, *times, *exist]
    report.holds("the first state has the invariant", initial, invariant(a))
    report.holds("the invariant implies that windows do not overlap", given, disjoint(a))
    report.actions(given, invariant(b), ACTIONS, MUTANTS, DROPPED)
