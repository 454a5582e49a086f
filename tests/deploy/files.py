"""The files of deploy/, read strictly, and what a check says that failed."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


class CheckError(Exception):
    """What is wrong, and in which file."""


def require(condition: object, what: str) -> None:
    """Fails with `what` unless the condition holds."""
    if not condition:
        raise CheckError(what)


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice in a mapping, as Kubernetes does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """As the base class, for mappings without repeated keys."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        repeated = {key for key in keys if keys.count(key) > 1}
        require(not repeated, f"{node.start_mark}: keys that stand twice: {repeated}")
        return super().construct_mapping(node, deep)


def documents(path: Path) -> list[dict[str, Any]]:
    """All documents of a YAML file."""
    return list(yaml.load_all(path.read_text(), Loader=StrictLoader))


def manifests(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The objects of a folder, by kind and name."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted(folder.glob("*.yaml")):
        for part in documents(path):
            key = (part["kind"], part["metadata"]["name"])
            require(key not in found, f"{path}: {key} is there twice")
            found[key] = part
    return found
