"""The arithmetic of layouts, text forms and UUIDs, for all widths and orders of the fields, as 64-bit vectors."""

from z3 import (
    UGE,
    ULE,
    ULT,
    And,
    BitVec,
    BitVecRef,
    BitVecVal,
    BoolRef,
    Extract,
    Ints,
    LShR,
    Or,
)  # fmt: skip

from solver import Report

BASES = {  # the largest number of digits of each text form, and its base
    "hex": (16, 16), "base32": (13, 32), "base36": (13, 36), "base58": (11, 58), "base62": (11, 62),
    "decimal": (20, 10),
}  # fmt: skip
ONE = BitVecVal(1, 64)


def number(name: str) -> BitVecRef:
    """Returns a 64-bit number."""
    return BitVec(name, 64)


def low_bits(width: BitVecRef) -> BitVecRef:
    """Returns a mask of the low bits."""
    return (ONE << width) - 1


def field(shift: BitVecRef, width: BitVecRef) -> BoolRef:
    """A field is within the 64 bits of an ID."""
    return And(ULE(width, 63), ULE(shift, 63), ULE(shift + width, 64))


def unpack(packed: BitVecRef, shift: BitVecRef, width: BitVecRef) -> BitVecRef:
    """Returns the value of a field (`Layout::unpack`)."""
    return LShR(packed, shift) & low_bits(width)


def uuid(packed: BitVecRef) -> tuple[BitVecRef, BitVecRef]:
    """Returns the halves of the UUID that contains an ID (`uuid::of_id`)."""
    mark = BitVecVal(int.from_bytes(b"\x03flakeid"), 64)
    upper = (packed & ~0xFFFF) | (8 << 12) | (LShR(packed, 4) & 0xFFF)
    return upper, BitVecVal(0b10, 64) << 62 | (packed & 0xF) << 58 | mark


def id_of(upper: BitVecRef, lower: BitVecRef) -> BitVecRef:
    """Returns the ID that a UUID contains (`uuid::id_of`)."""
    return (upper & ~0xFFFF) | ((upper & 0xFFF) << 4) | (LShR(lower, 58) & 0xF)


def prove() -> None:
    """Checks this part."""
    report = Report("layout")
    i, j, rest, other_rest = number("i"), number("j"), number("rest"), number("other_rest")
    value, shift, width = number("value"), number("shift"), number("width")
    other, other_shift, other_width = number("other"), number("other_shift"), number("other_width")
    fits = [field(shift, width), ULE(value, low_bits(width))]
    other_fits = [field(other_shift, other_width), ULE(other, low_bits(other_width))]
    apart = Or(ULE(shift + width, other_shift), ULE(other_shift + other_width, shift))
    # `Layout::pack` combines all fields, and `rest` combines all fields except one.
    mask = low_bits(width) << shift
    outside = (other << other_shift) & mask == 0
    report.holds("fields that are apart share no bit", [*fits, *other_fits, apart], outside)
    report.breaks("mutant: fields that overlap share no bit", [*fits, *other_fits], outside)
    packed = value << shift | rest
    report.holds("unpack inverts pack", [*fits, rest & mask == 0], unpack(packed, shift, width) == value)
    # The time is the top field.
    time, rest_is_below = value, [ULE(rest, low_bits(shift)), ULE(other_rest, low_bits(shift))]
    later = other << shift | other_rest
    top = [*fits, ULE(other, low_bits(width)), *rest_is_below]
    report.holds("an earlier tick makes a smaller ID", [*top, ULT(time, other)], ULT(packed, later))
    report.breaks("mutant: the time is not the top field", [*top[:3], ULT(time, other)], ULT(packed, later))
    lower, upper = time << shift, time << shift | low_bits(shift)
    inside = And(UGE(later, lower), ULE(later, upper))
    report.holds("the bounds of a tick contain exactly its IDs", top, inside == (time == other))
    report.holds("63 bits leave the sign bit clear", [*top, ULE(shift + width, 63)], packed >= 0)
    node, bits = number("node"), number("worker_bits")
    joined = LShR(node, bits) << bits | node & low_bits(bits)
    report.holds("datacenter and worker are the node", [ULT(bits, 64)], joined == node)
    position, wide, limit = number("position"), number("sequence_width"), number("limit")
    count = number("count")
    left = low_bits(wide) - (position & low_bits(wide)) + 1
    at_tick = [ULT(wide, 63), ULT(limit, ONE << 63), limit & low_bits(wide) == 0]
    of_tick = [*at_tick, ULT(position, limit), ULE(count, left)]
    report.holds("a range of one tick ends at or below the limit", of_tick, ULE(position + count, limit))
    report.holds("a UUID contains its ID", [], id_of(*uuid(i)) == i)
    (high_i, low_i), (high_j, low_j) = uuid(i), uuid(j)
    has_version = And(Extract(15, 12, high_i) == 8, Extract(63, 62, low_i) == 2)
    report.holds("a UUID has version 8 and variant 2", [], has_version)
    smaller = Or(ULT(high_i, high_j), And(high_i == high_j, ULT(low_i, low_j)))
    report.holds("UUIDs have the order of the IDs", [], smaller == ULT(i, j))
    front, digit, other_front, other_digit = Ints("front digit other_front other_digit")
    for name, (digits, base) in BASES.items():
        are_enough = base ** (digits - 1) < 2**64 <= base**digits
        step = [digit >= 0, digit < base, other_digit >= 0, other_digit < base]
        less = base * front + digit < base * other_front + other_digit
        first = Or(front < other_front, And(front == other_front, digit < other_digit))
        report.holds(f"{name}: {digits} digits are enough, and sort as numbers", step, And(are_enough, less == first))
    now, then, tick, later_tick, unit = Ints("now then tick later_tick unit")
    rounded = [unit > 0, tick * unit <= now, then < later_tick * unit + unit]
    report.holds("ticks are monotonic", [*rounded, now <= then], tick <= later_tick)
