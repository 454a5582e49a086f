"""A clock that a test moves by hand, and the reaction of a generator when the clock goes back."""

import flakeid

clock = flakeid.ManualClock(1_800_000_000_000)  # Unix milliseconds
generator = flakeid.Generator(node=7, clock=clock, rollback="error")
first = generator.next_id()
clock.advance(0.005)  # seconds
assert generator.next_id() > first

clock.set(1_800_000_000_000)  # five milliseconds back
try:
    generator.next_id()
except flakeid.ClockRollbackError as error:
    print(f"{error.code}: {error.by * 1000:.0f} ms behind; try again in {error.retry_after} s")
else:
    raise AssertionError("the generator did not detect that the clock went back")
