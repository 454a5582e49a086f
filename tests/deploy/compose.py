"""Checks of the files for Docker Compose: the schema of the Compose specification."""

import json
from importlib import metadata
from pathlib import Path

import jsonschema

from files import ROOT, documents, require

FILES = sorted((ROOT / "examples").rglob("compose.yaml"))


def schema() -> dict[str, object]:
    """Return the schema in the package docker-compose, whose code this check does not run."""
    files = metadata.files("docker-compose") or []
    (path,) = (file for file in files if file.name == "compose_spec.json")
    return json.loads(Path(path.locate()).read_text())


def check() -> None:
    """Check every Compose file of the examples. Unknown fields are errors."""
    require(FILES, "examples contains no compose.yaml")
    validator = jsonschema.Draft7Validator(schema())
    for path in FILES:
        (found,) = documents(path)
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(found)]
        require(not errors, f"{path.relative_to(ROOT)}: {errors}")
