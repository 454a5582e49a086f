"""Strict reading of the files of deploy/, and the error of a failed check."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


class CheckError(Exception):
    """A failed check, with the file and the reason."""


def require(condition: object, what: str) -> None:
    """Fail with `what` unless the condition holds."""
    if not condition:
        raise CheckError(what)


class StrictLoader(yaml.SafeLoader):
    """A loader that rejects duplicate keys in a mapping, like Kubernetes."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Construct a mapping, and fail if it has duplicate keys."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        repeated = {key for key in keys if keys.count(key) > 1}
        require(not repeated, f"{node.start_mark}: duplicate keys: {repeated}")
        return super().construct_mapping(node, deep)


def documents(path: Path) -> list[dict[str, Any]]:
    """Return all documents of a YAML file."""
    return list(yaml.load_all(path.read_text(), Loader=StrictLoader))


def manifests(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the objects of a folder by kind and name."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted(folder.glob("*.yaml")):
        for part in documents(path):
            key = (part["kind"], part["metadata"]["name"])
            require(key not in found, f"{path}: {key} is a duplicate")
            found[key] = part
    return found
