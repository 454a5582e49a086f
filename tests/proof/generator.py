"""One word of a generator, with all its local handles, rings, threads and forked children, for any number of positions.

A position is a tick and a sequence number. A call, a local handle or a ring claims a range of positions with one
compare-and-swap of the word, and issues the positions of its range one by one. The chunk of a local handle is a range.
Clocks have arbitrary readings, so the proof covers rollbacks, borrowing and windows that begin ahead of the clock.
"""

from z3 import And, BoolRef, Const, Consts, DeclareSort, If, Implies, Ints, Not, Or

from solver import BOOL, INT, Change, Report, State, every, largest

Process, Range = map(DeclareSort, ("Process", "Range"))
owner = Const("owner", Process)  # the process that made the generator; all others are forked children
first, fence = Ints("first fence")  # the window, in positions
SIGNATURE = {
    "word": (Process, INT),  # the next free position
    "closed": (Process, BOOL),
    "limit": (Process, INT),
    "claimed": (Range, BOOL),  # by the owner
    "low": (Range, INT),
    "high": (Range, INT),
    "issued": (INT, BOOL),
}
a, b = State("before", SIGNATURE), State("after", SIGNATURE)
change = Change(a, b)
(p, q), c = Consts("p q", Process), Const("c", Range)
position, count, clock, confirmed, stale = Ints("position count clock confirmed stale")


def invariant(s: State) -> BoolRef:
    """Returns the inductive invariant."""

    @every(INT)
    def issues(i):
        return Implies(s.issued(i), And(first <= i, i < fence, i < s.word(owner)))  # I2

    # A range is empty if `high` is at most `low`. A drop may move `low` beyond `high`, so empty ranges may be anywhere.
    @every(Range)
    def ranges(c):
        return Implies(s.claimed(c), And(first <= s.low(c), s.high(c) <= s.word(owner)))

    @every(Range, INT)
    def unissued(c, i):
        return Implies(And(s.claimed(c), s.low(c) <= i, i < s.high(c)), Not(s.issued(i)))

    @every(Range, Range)
    def disjoint(c, d):
        return Implies(And(s.claimed(c), s.claimed(d), c != d), Or(
            s.high(c) <= s.low(d), s.high(d) <= s.low(c), s.low(c) >= s.high(c), s.low(d) >= s.high(d),
        ))  # fmt: skip

    children = every(Process)(lambda q: Implies(q != owner, s.limit(q) == 0))
    ends = Implies(s.closed(owner), s.limit(owner) == 0)  # I6
    return And(issues, ranges, unissued, disjoint, children, ends, first <= s.word(owner), s.limit(owner) <= fence)


def claim(word: object) -> BoolRef:
    """A call, a handle or a ring of the owner claims a range with one compare-and-swap."""
    start = largest(word, clock)
    return And(
        Not(a.closed(owner)), Not(a.claimed(c)), count >= 1, start + count <= a.limit(owner),
        change(word=(owner, start + count), claimed=(c, True), low=(c, start), high=(c, start + count)),
    )  # fmt: skip


def issue(limit: object) -> BoolRef:
    """The process `p` issues a position of a range. A child has copies of the ranges, and its own limit."""
    return And(a.claimed(c), a.low(c) <= position, position < a.high(c), position < limit, change(
        issued=(position, True), low=lambda d: If(And(d == c, p == owner), position + 1, a.low(d)),
    ))  # fmt: skip


def extend(may_revive: object) -> BoolRef:
    """A confirmed fence raises the limit, unless the limit is 0."""
    return And(Or(a.limit(p) != 0, may_revive), a.limit(p) <= confirmed, confirmed <= fence,
               change(limit=(p, confirmed)))  # fmt: skip


ACTIONS = {
    "claim": claim(a.word(owner)),
    "issue": issue(a.limit(p)),
    "drop the rest of a range": And(a.low(c) <= position, change(low=(c, position))),
    "extend": extend(False),
    "close": change(closed=(owner, True), limit=(owner, 0)),
    "fork": And(q != owner, change(word=(q, a.word(p)), closed=(q, a.closed(p)), limit=(q, 0))),
}  # fmt: skip
MUTANTS = {
    "a forked child issues positions below the limit of its parent": And(p != owner, issue(a.limit(owner))),
    "a confirmed fence revives a closed generator": extend(True),
    "a range is claimed from a word that another thread has changed": And(stale <= a.word(owner), claim(stale)),
    "the limit itself is issued": And(first <= position, position <= a.limit(owner), position == a.word(owner),
                                      change(issued=(position, True), word=(owner, position + 1))),
}  # fmt: skip
DROPPED = {
    "A process copied with its memory": And(first <= stale, stale <= a.word(owner), change(word=(owner, stale))),
    "A fork by a raw `clone` system call": And(q != owner, change(word=(q, a.word(p)), limit=(q, a.limit(p)))),
}


def prove() -> None:
    """Checks this part."""
    report = Report("generator")
    nothing = [every(INT)(lambda i: Not(a.issued(i))), every(Range)(lambda c: Not(a.claimed(c)))]
    alone = every(Process)(lambda q: Implies(q != owner, a.limit(q) == 0))
    begins = [a.word(owner) == first, a.limit(owner) <= fence, Not(a.closed(owner)), alone]
    given = [first >= 0, first <= fence, invariant(a)]
    issues = [*given, ACTIONS["issue"]]
    report.holds("the first state has the invariant", [*nothing, *begins], invariant(a))
    report.holds("I1: no position is issued twice", issues, Not(a.issued(position)))
    report.holds("a forked child issues nothing", issues, p == owner)
    report.holds("I6: a closed generator issues nothing", issues, Not(a.closed(owner)))
    report.actions(given, invariant(b), ACTIONS, MUTANTS, DROPPED)
