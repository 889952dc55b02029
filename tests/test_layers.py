"""Arrows point inward: what each package may import, read from the imports themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "fc_eval"

ALLOWED: dict[str, set[str]] = {
    # errors, records  ←  pure core  ←  io and engine  ←  pytest glue
    "errors": set(),
    "records": {"errors", "msgspec", "jsonschema"},
    "domains": {"records", "errors", "jsonschema"},
    "judge": {"domains", "records", "errors", "deepdiff"},
    "cases": {"judge", "domains", "records", "errors"},
    "agent": {"domains", "records", "errors"},
    "calibration": {"judge", "domains", "records", "errors"},
    "bfcl": {"agent", "records", "errors"},
    "report": {"calibration", "judge", "domains", "records", "errors"},
    "files": {"cases", "bfcl", "records", "errors"},
    "client": {"agent", "domains", "records", "errors", "httpx", "tenacity", "xllamacpp"},
    "journal": {"files", "records", "errors"},
    "engine": set(),
    "plugin": {
        *("agent", "bfcl", "calibration", "cases", "client", "domains", "engine", "errors"),
        *("files", "journal", "judge", "records", "report", "pytest", "_pytest", "dotenv"),
    },
}
"""The standard library and a package's own modules are always allowed.

`fc_eval/__init__.py` is exempt: it hands out the public names.
"""


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            if node.module == "fc_eval":
                yield from (f"fc_eval.{alias.name}" for alias in node.names)
            elif node.module is not None:
                yield node.module


def _package(name: str) -> str:
    parts = name.split(".")
    return parts[1] if parts[0] == "fc_eval" and len(parts) > 1 else parts[0]


def _modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=str(path.relative_to(SOURCE))) for path in _modules()]
)
def test_a_module_imports_only_inner_layers(path: Path) -> None:
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    allowed = ALLOWED[own] | {own} | set(sys.stdlib_module_names)
    names = {_package(name) for name in _imports(path)}

    assert names - allowed - {"fc_eval"} == set()
