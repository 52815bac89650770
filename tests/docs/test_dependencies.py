"""Every dependency has its row in docs/dependencies.md, and those whose private parts we use are held below a version."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_every_package_that_runs_has_a_row_with_its_licence() -> None:
    named = {name for row in _rows("What runs") for name in re.findall(r"[a-z0-9-]+", row[0])}
    assert sorted(_names(PROJECT["dependencies"]) - named) == []


def test_every_extra_has_a_row() -> None:
    extras = PROJECT["optional-dependencies"]
    assert {row[0].strip("`") for row in _rows("What only some need")} == extras.keys() - {"dev"}
    for extra, package, _ in _rows("What only some need"):
        assert _names(extras[extra.strip("`")]) <= set(re.findall(r"[a-z0-9-]+", package))


def test_every_package_of_the_tests_is_named() -> None:
    text = PAGE.partition("## What tests and measures")[2] + " ".join(row[1] for row in _rows("What only some need"))
    named = set(re.findall(r"[a-z0-9-]+", text))
    named |= {f"pytest-{plugin}" for plugin in ("asyncio", "timeout", "xdist", "cov") if plugin in named}
    assert sorted(_names(PROJECT["optional-dependencies"]["dev"]) - named) == []


def test_packages_with_private_parts_in_use_are_held_below_a_version() -> None:
    held = {row[0] for row in _rows("Held below a version")}
    bounded = {_name(one) for one in PROJECT["dependencies"] if "<" in one}
    assert sorted(held - bounded) == []
    assert sorted({module.partition(".")[0] for module in _private_imports()} - held) == []


@pytest.mark.parametrize(("package", "module"), [("pymupdf", "text/mupdf.py"), ("onnxruntime", "text/onnx.py")])
def test_a_package_that_needs_care_is_imported_in_one_module(package: str, module: str) -> None:
    users = [str(path.relative_to(ROOT / "src" / "trigpoint")) for path in SOURCES if package in _imports(path)]
    assert users == [module]


def _rows(title: str) -> list[list[str]]:
    section = re.split(r"(?m)^## ", PAGE.partition(f"## {title}\n")[2])[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=]", requirement)[0]


def _names(requirements: list[str]) -> set[str]:
    return {_name(one) for one in requirements}


def _imports(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]


def _private_imports() -> set[str]:
    modules = {module for path in SOURCES for module in _imports(path)}
    return {module for module in modules if "._" in module and not module.startswith("trigpoint")}
