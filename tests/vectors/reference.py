"""Write or check the test vectors next to this file.

    python3 tests/vectors/reference.py --write
    python3 tests/vectors/reference.py --check

Everything is computed with plain Python integers from the definitions, independently
of the library under test. Both commands first compare the published literals of
known.py with the arithmetic, and check every schedule with `schedule.Witness`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path

import errors
import keyed_cases
import known
import layout_cases
import schedule_cases
import text_cases
import uuid_cases

FOLDER = Path(__file__).resolve().parent
DOCUMENTS = {
    "layouts.json": layout_cases.document,
    "text.json": text_cases.document,
    "schedules.json": schedule_cases.document,
    "errors.json": errors.document,
    "keyed.json": keyed_cases.document,
    "uuid.json": uuid_cases.document,
}


def generate() -> dict[str, str]:
    """Return the content of every file by name."""
    known.check()
    return {name: render(document()) + "\n" for name, document in DOCUMENTS.items()}


def render(value: object, margin: str = "") -> str:
    """Return JSON in ASCII with each case or step on one line, so that a diff shows whole cases.

    A value without lists takes one line. Each element of a list takes one line. An
    object with lists puts each list on separate lines, indented by `margin`.
    """
    if not contains_list(value):
        return json.dumps(value, ensure_ascii=True)
    inner = margin + " "
    if isinstance(value, list):
        elements = (f"{inner}{render(element, inner)}" for element in value)
        return "[\n" + ",\n".join(elements) + f"\n{margin}]"
    parts = []
    by_kind = itertools.groupby(value.items(), lambda member: contains_list(member[1]))
    for has_list, members in by_kind:
        texts = [f"{json.dumps(name)}: {render(member, inner)}" for name, member in members]
        parts.append((f",\n{inner}" if has_list else ", ").join(texts))
    return "{" + f",\n{inner}".join(parts) + "}"


def contains_list(value: object) -> bool:
    """Return whether the value contains a nonempty list, at any depth."""
    if isinstance(value, dict):
        return any(map(contains_list, value.values()))
    return isinstance(value, list) and bool(value)


def write(texts: dict[str, str]) -> None:
    """Write the files."""
    for name, text in texts.items():
        (FOLDER / name).write_bytes(text.encode("ascii"))


def check(texts: dict[str, str]) -> None:
    """Compare the files byte for byte; raise MismatchError at the first difference."""
    for name, text in texts.items():
        path = FOLDER / name
        if not path.is_file():
            raise known.MismatchError(f"{name} is missing")
        wanted, found = text.encode("ascii"), path.read_bytes()
        if found != wanted:
            raise known.MismatchError(f"{name}: {first_difference(wanted, found)}")


def first_difference(wanted: bytes, found: bytes) -> str:
    """Return the first line that differs."""
    lines = itertools.zip_longest(wanted.split(b"\n"), found.split(b"\n"))
    for number, (want, have) in enumerate(lines, start=1):
        if want != have:
            return f"line {number}: on disk {have!r}, computed {want!r}"
    return "no line differs"


def main() -> int:
    """Run the command line; return 1 if a check fails."""
    parser = argparse.ArgumentParser(description="Write or check the test vectors.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the files")
    mode.add_argument("--check", action="store_true", help="compare the files on disk")
    arguments = parser.parse_args()
    try:
        texts = generate()
        if arguments.write:
            write(texts)
        else:
            check(texts)
    except known.MismatchError as mismatch:
        print(f"reference.py: {mismatch}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
