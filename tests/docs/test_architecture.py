"""The walks of docs/architecture.md name functions that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _defined() -> set[str]:
    """Return the names of all classes and functions, and of methods after their class or module."""
    names: set[str] = set()
    for path in (ROOT / "src" / "trigpoint").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                continue
            scope = path.stem if isinstance(node, ast.Module) else node.name
            within = [
                one for one in node.body if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            names |= {one.name for one in within} | {f"{scope}.{one.name}" for one in within}
    return names


def test_every_step_of_a_walk_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    walks = page.partition("## Walks through the code")[2].partition("\n## ")[0]
    steps = {step for step in re.findall(r"`([A-Za-z_.]+)`", walks) if not step.endswith(".py")}
    assert len(steps) > 40
    # A subclass may inherit a step: PageRequest.parse is Filter's.
    inherited = {"PageRequest.parse"}
    assert steps - inherited - _defined() == set()
