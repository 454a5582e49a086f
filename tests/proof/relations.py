"""The decisions of stores, brokers and holders, each as an exact relation between a question and its answer.

The proof uses these relations as the guards of its actions. `rust.py` translates them to Rust, and `src` compares them
with the code on random states. All numbers are ticks, except the times, which are milliseconds. A truth value that
compares tokens or incarnations is an argument, because only its result counts. `waited` is the time for which a request
has travelled, `after` is the tick after the last tick that a process has used, and `confirmed` is the fence that the
holder knows to be confirmed.
"""

from z3 import And, ArithRef, BoolRef, If, Not, Or

from solver import largest, smallest

Int, Bool = ArithRef, BoolRef
Answer = dict[str, Int | Bool]


def skew(store_now: Int, client_now: Int, waited: Int) -> Answer:
    """The time by which a client's clock is ahead of the store's clock (`rules::skew`)."""
    ahead = client_now - store_now
    return {"skew": If(ahead < 0, smallest(ahead + waited, 0), ahead)}


def admit(
    store_now: Int, quiet_until: Int, skew: Int, max_skew: Int, window_ms: Int, shortest_ms: Int, max_window_ms: Int
) -> Answer:
    """Whether a store grants a window to a client now (`rules::admit`)."""
    has_bounds = And(shortest_ms <= window_ms, window_ms <= max_window_ms)
    return {"allowed": And(skew <= max_skew, -skew <= max_skew, store_now >= quiet_until, has_bounds)}


def is_live(row_expires: Int, store_now: Int, is_this_run: Bool) -> Answer:
    """Whether a row reserves its node (`rules::is_live`)."""
    return {"live": And(row_expires > store_now, is_this_run)}


def grant(
    exists: Bool, quarantined: Bool, live: Bool, row_fixed: Bool, row_fence: Int,
    reuse: Bool, fixed: Bool, after: Int, window: Int, clock: Int, max_ahead: Int, floor: Int, end: Int,
) -> Answer:  # fmt: skip
    """The window of a new grant, if the node may be granted (`rules::grant`). `clock` is the client's tick."""
    free = And(Not(quarantined), reuse, Or(Not(live), And(fixed, row_fixed)))
    lowest = largest(If(exists, row_fence, 0), floor, after)
    start = largest(lowest, clock)
    fence = smallest(start + window, end)
    allowed = And(Or(Not(exists), free), lowest <= clock + max_ahead, fence >= start + 2)
    return {"allowed": allowed, "start": start, "fence": fence}


def highest_fence(clock: Int, max_ahead: Int, max_window: Int, end: Int) -> Answer:
    """The highest fence that may be confirmed while no client's clock is above the tick `clock` (I9)."""
    # I9 allows for one more tick.
    return {"fence": smallest(clock + max_ahead + max_window + 1, end)}


def latest_times(store_now: Int, max_skew: Int) -> Answer:
    """The instants whose bounds limit the fences of renewals and determine the floor of a new run.

    The clock of a client, of the earlier run and of the new run may each be wrong by `max_skew`, so the floor is above
    each fence that the earlier run has confirmed.
    """
    return {"renewal": store_now + max_skew, "floor": store_now + 3 * max_skew}


def renew(
    exists: Bool, held: Bool, is_token: Bool, is_next_token: Bool, row_start: Int, row_fence: Int,
    start: Int, wanted: Int, highest: Int, end: Int,
) -> Answer:  # fmt: skip
    """The fence after a renewal in the run in which the row was granted (`rules::renew`)."""
    capped = smallest(wanted, end)
    allowed = And(exists, held, row_start == start, Or(is_next_token, And(is_token, capped <= highest)))
    return {"allowed": allowed, "fence": If(is_next_token, row_fence, largest(row_fence, capped))}


def renew_older(
    exists: Bool, held: Bool, is_same_grant: Bool, row_fixed: Bool, row_start: Int, row_fence: Int,
    row_renewed: Int, row_expires: Int, start: Int, confirmed: Int, wanted: Int, skew: Int,
    store_now: Int, max_skew: Int, quiet: Int, highest: Int, highest_then: Int,
) -> Answer:  # fmt: skip
    """The fence after a renewal of a row of another run: the holder continues, or has a last window (`renew_older`).

    `highest` is the bound of the present time, and `highest_then` that of the time of the row's last renewal. Two
    readings separate the row's expiry from the present: that of a run that may have granted the node, and that of this
    run. The end of another run's quiet time also depends on the readings at the row's renewal and at that run's start.
    """
    reserved = And(
        exists, held, row_start == start, is_same_grant, Not(row_fixed),
        store_now + 2 * max_skew < row_expires,
        store_now + 2 * max_skew >= row_renewed, skew <= max_skew, -skew <= max_skew,
    )  # fmt: skip
    asked = smallest(largest(wanted, confirmed), highest)
    last = smallest(highest_then, highest)
    others_are_quiet = store_now + 4 * max_skew < row_renewed + quiet
    continues = And(reserved, others_are_quiet)
    allowed = And(reserved, Or(continues, last > confirmed))
    fence = largest(row_fence, If(continues, asked, smallest(asked, last)))
    return {"allowed": allowed, "continues": continues, "fence": fence}


def release(is_this_run: Bool, is_token: Bool, row_start: Int, row_fence: Int, used_until: Int) -> Answer:
    """The fence after a release (`operations::release`, `rules::release`)."""
    return {"allowed": And(is_this_run, is_token), "fence": smallest(largest(used_until, row_start), row_fence)}


def cut_off(row_fixed: Bool, row_expires: Int) -> Answer:
    """The expiry of a row after an operator has taken the node from its holder (`operations::repair`)."""
    return {"expires": If(row_fixed, 0, row_expires)}


def is_forgotten(
    exists: Bool, held: Bool, is_same_grant: Bool, row_start: Int, row_fence: Int,
    start: Int, confirmed: Int, floor: Int,
) -> Answer:  # fmt: skip
    """Whether a renewal proves that the store lost data (`rules::is_forgotten`).

    No action has this guard: a new run may begin at any time.
    """
    fence_fell = And(row_start == start, held, is_same_grant, row_fence < confirmed)
    return {"forgotten": And(Or(Not(exists), row_start < start, fence_fell), confirmed > floor)}


def restored(floor: Int, quiet_until: Int, store_now: Int, quiet: Int, highest: Int) -> Answer:
    """The floor and the quiet time of a new run (`rules::restored`)."""
    return {"floor": largest(floor, highest), "quiet_until": largest(quiet_until, store_now + quiet)}


def sub_grant(
    exists: Bool, live: Bool, row_fence: Int, after: Int, window: Int, clock: Int, max_ahead: Int,
    block_start: Int, block_fence: Int, end: Int,
) -> Answer:  # fmt: skip
    """The window of a broker's grant, from the block's start (I12) to its fence (I11) (`Blocks::acquire`)."""
    plain = grant(exists, False, live, False, row_fence, True, False, after, window, clock, max_ahead, block_start, end)
    fence = smallest(plain["fence"], block_fence)
    return {"allowed": And(plain["allowed"], fence >= plain["start"] + 2), "start": plain["start"], "fence": fence}


def sub_renew(
    exists: Bool, held: Bool, is_token: Bool, is_next_token: Bool, row_start: Int, row_fence: Int,
    start: Int, wanted: Int, highest: Int, end: Int, block_fence: Int,
) -> Answer:  # fmt: skip
    """The fence after a renewal at a broker (`Blocks::renew`)."""
    plain = renew(exists, held, is_token, is_next_token, row_start, row_fence, start, wanted, highest, end)
    fence = smallest(plain["fence"], block_fence)
    useful = Or(is_next_token, wanted <= row_fence, fence > row_fence)
    return {"allowed": And(plain["allowed"], useful), "fence": fence}


def begin(start: Int, fence: Int, used_until: Int) -> Answer:
    """The window of a generator, from the highest start and the process's last tick (`Keeper::begin`)."""
    first = largest(start, used_until)
    return {"allowed": fence >= first + 2, "first": first, "limit": fence}


def raise_limit(is_awaited: Bool, is_open: Bool, known: Int, confirmed: Int, others: Int) -> Answer:
    """The limit after a renewal: the lowest fence that is confirmed for any grant (`Keeper::act`).

    `known` is the fence of the renewed grant before, and `others` is the lowest fence of the other grants.
    """
    return {"allowed": And(is_awaited, is_open), "limit": smallest(largest(known, confirmed), others)}


def issue(next_tick: Int, limit: Int, clock: Int, max_ahead: Int) -> Answer:
    """The tick of a generator's next ID (`Generator::take`, `Generator::attempt`)."""
    tick = largest(next_tick, clock)
    return {"allowed": And(tick < limit, tick <= clock + max_ahead), "tick": tick}
