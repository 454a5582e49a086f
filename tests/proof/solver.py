"""States, actions and checks on top of Z3, for all parts of the proof."""

import sys
import time
from collections.abc import Callable
from typing import ClassVar

import z3

BOOL, INT = z3.BoolSort(), z3.IntSort()


class State:
    """A state: a constant or an uninterpreted function for each name of a signature."""

    def __init__(self, tag: str, signature: dict[str, tuple[z3.SortRef, ...]]) -> None:
        self.names = list(signature)
        for name, sorts in signature.items():
            make = z3.Function if len(sorts) > 1 else z3.Const
            setattr(self, name, make(f"{name}_{tag}", *sorts))


class Change:
    """The frame of an action: each name keeps its value, except where the action puts another."""

    def __init__(self, before: State, after: State) -> None:
        self.before, self.after = before, after

    def __call__(self, **puts: object) -> z3.BoolRef:
        """Returns the frame.

        `name=value` sets a constant, `name=(key, value)` a function at one key, and `name=function` at each key.
        """
        unknown = puts.keys() - set(self.before.names)
        if unknown:
            raise ValueError(f"the signature has no {unknown}")
        frame = []
        for name in self.before.names:
            old, new = getattr(self.before, name), getattr(self.after, name)
            put = puts.get(name)
            if not isinstance(old, z3.FuncDeclRef):
                frame.append(new == (old if put is None else put))
                continue
            keys = [z3.Const(f"key{i}", old.domain(i)) for i in range(old.arity())]
            value = old(*keys)
            if callable(put):
                value = put(*keys)
            elif put is not None:
                *at, put = put
                at = [key == place for key, place in zip(keys, at, strict=True)]
                value = z3.If(z3.And(at), put, value)
            frame.append(z3.ForAll(keys, new(*keys) == value))
        return z3.And(frame)


def every(*sorts: z3.SortRef) -> Callable[[Callable[..., z3.BoolRef]], z3.BoolRef]:
    """Returns a decorator that turns a condition on variables of the sorts into a quantifier."""

    def quantify(condition: Callable[..., z3.BoolRef]) -> z3.BoolRef:
        names = condition.__code__.co_varnames
        variables = [z3.Const(name, sort) for name, sort in zip(names, sorts, strict=False)]
        return z3.ForAll(variables, condition(*variables))

    return quantify


def largest(first: z3.ArithRef, *others: z3.ArithRef) -> z3.ArithRef:
    """Returns the largest number."""
    for other in others:
        first = z3.If(first >= other, first, other)
    return first


def smallest(first: z3.ArithRef, *others: z3.ArithRef) -> z3.ArithRef:
    """Returns the smallest number."""
    for other in others:
        first = z3.If(first <= other, first, other)
    return first


class Report:
    """The checks of one part of the proof, and whether each had the expected result."""

    failed: ClassVar[list[str]] = []
    dropped: ClassVar[list[str]] = []
    checks: ClassVar[int] = 0

    def __init__(self, part: str) -> None:
        self.part = part

    def holds(self, name: str, given: list[z3.BoolRef], goal: z3.BoolRef) -> None:
        """Checks that the goal follows."""
        self._check(name, given, goal, z3.unsat)

    def breaks(self, name: str, given: list[z3.BoolRef], goal: z3.BoolRef) -> None:
        """Checks that there is a counterexample: the goal does not follow."""
        self._check(name, given, goal, z3.sat)

    def actions(self, given: list[z3.BoolRef], goal: z3.BoolRef, actions: dict, mutants: dict, dropped: dict) -> None:
        """Checks that each action can happen and keeps the invariant, and that all others do not keep it.

        A counterexample is a step out of the invariant, from which a repeated ID is often several steps away.
        """
        for name, action in actions.items():
            self.breaks(f"{name}: can happen", [*given, action], z3.BoolVal(False))
            self.holds(f"{name}: keeps the invariant", [*given, action], goal)
        for name, action in mutants.items():
            self.breaks(f"mutant: {name}", [*given, action], goal)
        for name, action in dropped.items():
            self.drops(name, [*given, action], goal)

    def drops(self, assumption: str, given: list[z3.BoolRef], goal: z3.BoolRef) -> None:
        """Checks that there is a counterexample without an assumption."""
        Report.dropped.append(assumption)
        self.breaks(f"without the assumption: {assumption}", given, goal)

    def _check(self, name: str, given: list[z3.BoolRef], goal: z3.BoolRef, wanted: z3.CheckSatResult) -> None:
        solver = z3.Solver()
        solver.set("rlimit", 500_000_000)  # the same on every machine
        solver.add(*given, z3.Not(goal))
        began = time.process_time()
        found = solver.check()
        words = {"unsat": "proved", "sat": "counterexample", "unknown": "undecided"}
        text = f"{self.part}: {name}: {words[str(found)]}"
        is_right = found == wanted
        print(f"{'ok ' if is_right else 'BAD'} {text} in {time.process_time() - began:.2f} s")
        sys.stdout.flush()
        Report.checks += 1
        if not is_right:
            Report.failed.append(f"{text}; expected: {words[str(wanted)]}")
