"""Measures a checkout as a house: its size, its names, its longest functions, what is written twice, and its walks.

Run as `python tools/house.py CHECKOUT…`: it prints one table, a column for each checkout. "Before and after" in
docs/architecture.md is its output. `--no-walks` leaves out the walks, which start everything (tools/walks.py).
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from walks import walks_of

CONCEPTS = ["Passage", "Citation", "Fact", "Finding", "Statement", "Revision"]
LONG_FILE = 400
RUN = 8  # lines that make a run
LONGEST = 10

Row = tuple[str, str]


@dataclass(frozen=True)
class Function:
    place: str
    lines: int


class House:
    """One checkout, measured by its files."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout

    def rows(self, with_walks: bool) -> Iterator[Row]:
        """Yield the rows of the table: what is measured, and its figure."""
        yield from self._sizes()
        yield from self._names()
        yield from self._functions()
        yield "runs of 8 lines or more that are there twice", f"{self._duplicated_lines():,} lines"
        for walk in walks_of(self.checkout) if with_walks else []:
            yield walk.name, f"{len(walk.functions)} functions in {len(walk.files)} files"

    def _sizes(self) -> Iterator[Row]:
        for folder, ending in (("src", "py"), ("tests", "py"), ("docs", "md")):
            files = sorted((self.checkout / folder).rglob(f"*.{ending}"))
            lines = [_count_lines(file) for file in files]
            yield f"files, lines in `{folder}`", f"{len(files)}, {sum(lines):,}"
            if ending == "py":
                yield f"files over {LONG_FILE} lines in `{folder}`", str(sum(count > LONG_FILE for count in lines))

    def _names(self) -> Iterator[Row]:
        yield "public names", f"{sum(len(list(_public_names(tree))) for tree in self._trees.values()):,}"
        nodes = (node for tree in self._trees.values() for node in ast.walk(tree))
        classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
        yield "classes", f"{len(classes):,}"
        for concept in CONCEPTS:
            named = [name for name in classes if concept.lower() in name.lower()]
            same = len([name for name in named if name.strip("_") == concept])
            yield f"classes with `{concept}` in the name (called just that)", f"{len(named)} ({same})"

    def _functions(self) -> Iterator[Row]:
        functions = sorted(self._all_functions(), key=lambda one: one.lines)
        middle, high = (functions[int(len(functions) * share)].lines for share in (0.5, 0.95))
        yield "functions; median length, 95th percentile", f"{len(functions):,}; {middle}, {high}"
        longest = reversed(functions[-LONGEST:])
        yield f"the {LONGEST} longest functions", "<br>".join(f"{one.lines} `{one.place}`" for one in longest)

    def _all_functions(self) -> Iterator[Function]:
        for name, tree in self._trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield Function(f"{name}: {node.name}", (node.end_lineno or 0) - node.lineno + 1)

    def _duplicated_lines(self) -> int:
        """Count the lines that belong to a run of lines that is also somewhere else."""
        texts = {name: list(_code_lines(file)) for name, file in self._files.items()}
        places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        for name, lines in texts.items():
            for start in range(len(lines) - RUN + 1):
                places[tuple(lines[start : start + RUN])].append((name, start))
        return len(
            {
                (name, start + i)
                for twice in places.values()
                if len(twice) > 1
                for name, start in twice
                for i in range(RUN)
            }
        )

    @cached_property
    def _files(self) -> dict[str, Path]:
        source = self.checkout / "src" / "trigpoint"
        return {str(file.relative_to(source)): file for file in sorted(source.rglob("*.py"))}

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(file.read_text("utf-8")) for name, file in self._files.items()}


def _count_lines(file: Path) -> int:
    return len(file.read_text("utf-8").splitlines())


def _public_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        for name in _names_defined(node):
            if not name.startswith("_"):
                yield name


def _names_defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _code_lines(file: Path) -> Iterator[str]:
    """Yield the lines that say something, with their spaces evened out: no imports, comments or lone brackets."""
    for line in file.read_text("utf-8").splitlines():
        text = " ".join(line.split())
        if any(letter.isalnum() for letter in text) and not text.startswith(("#", "import ", "from ")):
            yield text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    parser.add_argument("--no-walks", action="store_true", help="only what can be read in the files")
    arguments = parser.parse_args()
    columns = [dict(House(one.absolute()).rows(not arguments.no_walks)) for one in arguments.checkouts]
    print("| " + " | ".join(["", *(str(one) for one in arguments.checkouts)]) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for what in columns[0]:
        print("| " + " | ".join([what, *(column[what] for column in columns)]) + " |")


if __name__ == "__main__":
    main()
