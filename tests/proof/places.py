"""The documents of stores that change a namespace with one conditional write, and how they notice restored copies.

One namespace, any number of processes, places and versions of its document. A process reads the document, and later
writes another version if the document is still the one that it has read. In between, other processes write, and
operators restore any version that ever existed: into another place, over the present document, or by deleting newer
versions. A store that does not report the times of changes, such as DynamoDB, restores only into another place. The
readings of the store's clock are exact here; the limits of the code allow for their errors.

`runs.py` assumes that each write of a run follows the latest write of the run, and that an older version begins another
run. This part proves both: a process uses its write only if it has read the latest version of the run that it records.
"""

from z3 import And, Bool, BoolRef, Const, Consts, DeclareSort, Function, If, Implies, Ints, Not, Or

from solver import BOOL, INT, Change, Report, State, every

Process, Version, Run, Place = map(DeclareSort, ("Process", "Version", "Run", "Place"))
longest_write, longest_age = Ints("longest_write longest_age")
has_times = Bool("has_times")  # the store reports the times of changes

# Constants. A version that does not exist yet has arbitrary values.
identity = Function("identity", Version, Place)  # the place that the document records
run_of = Function("run_of", Version, Run)
written = Function("written", Version, INT)  # the time of the read before the write
changed_at = Function("changed_at", Version, INT)  # the time of the write
is_empty = Function("is_empty", Version, BOOL)  # used by a mutant only

SIGNATURE = {
    "now": (INT,),
    "version": (Version,),  # the document
    "place": (Place,),  # the identity of the object that contains the document
    "changed": (INT,),  # the time at which the document was last changed, as the store reports it
    "kept": (Version, BOOL),  # a backup may contain the version
    "existed": (Place, BOOL),
    "known": (Run, BOOL),
    "latest": (Run, Version),  # the latest version of the run, without versions that were written over a restored one
    "reads": (Process, BOOL),  # the process has read a version, and has not written yet
    "read": (Process, Version),
    "read_place": (Process, Place),
    "read_at": (Process, INT),
    "begins_run": (Process, BOOL),  # the process has noticed a restore, so its write begins another run
    "has_gap": (BOOL,),  # a process used a write that does not follow the latest one of its run
}
a, b = State("before", SIGNATURE), State("after", SIGNATURE)
change = Change(a, b)
p = Const("p", Process)
(v, y), r, place, later = Consts("v y", Version), Const("r", Run), Const("place", Place), Ints("later other")[0]
LIMITS = [longest_write >= 0, longest_age >= longest_write]


def is_noticed(s: State) -> list[BoolRef]:
    """Returns the signs of a restored document; each one suffices."""
    return [
        identity(s.version) != s.place,
        And(has_times, s.changed - written(s.version) > longest_write),
        And(has_times, s.now - written(s.version) > longest_age),
    ]


def invariant(s: State) -> BoolRef:
    """Returns the inductive invariant."""

    @every(Version)
    def versions(v):
        return Implies(s.kept(v), And(
            s.existed(identity(v)), s.known(run_of(v)), written(v) <= changed_at(v), changed_at(v) <= s.now,
        ))  # fmt: skip

    @every(Process)
    def processes(p):
        """A process whose write would succeed in time has read the latest version of its run."""
        succeeds = And(s.version == s.read(p), s.now - s.read_at(p) <= longest_write)
        follows = Or(s.begins_run(p), s.latest(run_of(s.read(p))) == s.read(p))
        moved = And(Not(has_times), s.read_place(p) != s.place)
        return Implies(s.reads(p), And(
            s.kept(s.read(p)), s.existed(s.read_place(p)), s.read_at(p) <= s.now, Implies(succeeds, follows),
            Implies(Not(has_times), Or(s.version != s.read(p), follows, moved)),
        ))  # fmt: skip

    is_latest = s.latest(run_of(s.version)) == s.version
    current = And(s.kept(s.version), s.existed(s.place), s.changed <= s.now, Or(*is_noticed(s), is_latest))
    return And(versions, processes, current, Not(s.has_gap))


def reading(signs: list[BoolRef]) -> BoolRef:
    """The process `p` reads the document."""
    return change(
        reads=(p, True), read=(p, a.version), read_place=(p, a.place), read_at=(p, a.now), begins_run=(p, Or(signs))
    )


def writing(
    condition: object = a.version == a.read(p), is_used: object = a.now - a.read_at(p) <= longest_write,
    since: object = a.read_at(p), recorded: object = a.read_place(p),
) -> BoolRef:  # fmt: skip
    """The process `p` writes the version `y`, and uses the write, unless it comes late."""
    follows = Or(a.begins_run(p), a.latest(run_of(a.read(p))) == a.read(p))
    own_run = Implies(Not(a.begins_run(p)), run_of(y) == run_of(a.read(p)))
    new_run = Implies(a.begins_run(p), Not(a.known(run_of(y))))
    values = And(identity(y) == recorded, written(y) == since, changed_at(y) == a.now)
    latest = If(follows, y, a.latest(run_of(y)))
    return And(
        a.reads(p), condition, Not(a.kept(y)), own_run, new_run, values,
        change(
            version=y, changed=a.now, kept=(y, True), known=(run_of(y), True), reads=(p, False),
            latest=(run_of(y), latest), has_gap=Or(a.has_gap, And(is_used, Not(follows))),
        ),
    )  # fmt: skip


def restoring(where: object, changed: object, condition: object = True, takes: object = longest_write) -> BoolRef:
    """An operator restores the version `v`, for longer than a process may take from its read to its write."""
    puts = {"version": v, "place": where, "existed": (where, True), "changed": changed, "now": later}
    return And(a.kept(v), later - a.now > takes, condition, change(**puts))


is_new = Not(a.existed(place))
is_old = later - written(v) > longest_age
ACTIONS = {
    "time passes": And(later >= a.now, change(now=later)),
    "read": reading(is_noticed(a)),
    "write": writing(),
    "a process ends before it writes": change(reads=(p, False)),
    "restore into another place": restoring(place, later, is_new),
    "restore into another place, with the times of the objects": restoring(place, changed_at(v), is_new),
    "put a copy back": restoring(a.place, later, has_times),
    "delete newer versions": restoring(a.place, changed_at(v), And(has_times, is_old)),
}
moved, changed_later, too_old = is_noticed(a)
MUTANTS = {
    "an empty identity counts as equal": reading([And(moved, Not(is_empty(a.version))), changed_later, too_old]),
    "the time of a change does not count": reading([moved, too_old]),
    "the age of a document does not count": reading([moved, changed_later]),
    "a write has no condition": writing(condition=True),
    "a late write is used": writing(is_used=True),
    "a late write looks like one in time": writing(since=a.now),
    "a write records the place that it reaches": writing(recorded=a.place),
}
EXCLUDED = {
    "a copy is put back at once": restoring(a.place, later, has_times, takes=-1),
    "new versions are deleted soon": restoring(a.place, changed_at(v), has_times),
    "a copy is put back where no times are reported": restoring(a.place, later),
    "a table is replaced at once": restoring(place, later, is_new, takes=-1),
}


def prove() -> None:
    """Checks this part."""
    report = Report("places")
    given = [*LIMITS, invariant(a)]
    only = [every(Version)(lambda v: Implies(a.kept(v), v == a.version)), every(Process)(lambda p: Not(a.reads(p)))]
    first = [a.kept(a.version), a.existed(a.place), a.known(run_of(a.version)), identity(a.version) == a.place]
    first += [a.latest(run_of(a.version)) == a.version, written(a.version) <= changed_at(a.version), Not(a.has_gap)]
    first += [changed_at(a.version) <= a.now, a.changed <= a.now]
    report.holds("the first state has the invariant", [*LIMITS, *only, *first], invariant(a))
    report.holds("the invariant implies that each used write follows the latest one", given, Not(a.has_gap))
    report.actions(given, invariant(b), ACTIONS, MUTANTS, {})
    for name, action in EXCLUDED.items():
        report.breaks(f"excluded: {name}", [*given, action], invariant(b))
