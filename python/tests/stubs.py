"""Docstrings for the stub of the extension, which editors show. They come from the extension.

After a change of documentation in bindings/python, build and install the package, and run

    python -P python/tests/stubs.py && cargo xtask format
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path

import flakeid
from flakeid import _flakeid

STUB = Path(__file__).resolve().parents[1] / "flakeid" / "_flakeid.pyi"

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definitions(tree: ast.Module) -> Iterator[tuple[Definition, str]]:
    """Yield the public definitions of the stub with the docstrings of the extension."""
    for outer in tree.body:
        if isinstance(outer, Definition) and not outer.name.startswith("_"):
            found = getattr(_flakeid, outer.name)
            yield outer, inspect.getdoc(found) or ""
            for inner in outer.body if isinstance(outer, ast.ClassDef) else ():
                if isinstance(inner, Definition) and not inner.name.startswith("_"):
                    member = inspect.getattr_static(found, inner.name)
                    yield inner, inspect.getdoc(getattr(member, "__func__", member)) or ""


def outdated(stub: str) -> list[str]:
    """Return the names of the definitions whose docstrings differ from those of the extension."""
    tree = ast.parse(stub)
    return [node.name for node, doc in definitions(tree) if ast.get_docstring(node) != doc]


def documented(stub: str) -> str:
    """Return the stub with the docstrings of the extension."""
    lines = stub.splitlines(keepends=True)
    # The last definition comes first, so that the positions of the others remain valid.
    found = sorted(definitions(ast.parse(stub)), key=lambda pair: -pair[0].lineno)
    for node, doc in found:
        indent = " " * (node.col_offset + 4)
        quotes = f'\n{indent}"""\n' if "\n" in doc else '"""\n'
        docstring = textwrap.indent(f'"""{doc}', indent) + quotes
        first = node.body[0]
        if isinstance(node, ast.ClassDef):
            # A class keeps its body. The body may begin with a decorator, in the line after the
            # line of the name.
            end = first.end_lineno if ast.get_docstring(node) is not None else node.lineno
            lines[node.lineno : end] = [docstring]
        else:
            header = lines[first.lineno - 1][: first.col_offset].rstrip()
            head = [f"{header}\n"] if header else []
            lines[first.lineno - 1 : first.end_lineno] = [*head, docstring]
    return "".join(lines)


if __name__ == "__main__":
    assert STUB.parent.resolve() != Path(flakeid.__file__).resolve().parent
    STUB.write_text(documented(STUB.read_text()))
