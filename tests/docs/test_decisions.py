"""Every decision number that code or tests rely on is explained in docs/decisions.md, and no other page has any."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r"\(([EPDRWGLS][1-9][0-9]?)\b")
IN_BRACKETS = re.compile(r"\(([EPDRWGLS][1-9][0-9]?)\)")
EXPLAINED = re.compile(r"^\| ([EPDRWGLS][1-9][0-9]?) \|", re.MULTILINE)


def test_every_decision_number_in_the_code_is_explained() -> None:
    explained = set(EXPLAINED.findall((ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")))
    used = {
        (number, str(path.relative_to(ROOT)))
        for folder in ("src", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number in REFERENCE.findall(path.read_text(encoding="utf-8"))
    }
    assert used, "no decision is cited anywhere: has the notation changed?"
    assert sorted((number, path) for number, path in used if number not in explained) == []


def test_no_page_for_users_has_a_decision_number() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")]
    numbered = {
        f"{page.name}: {number}"
        for page in pages
        if page.name != "decisions.md"
        for number in IN_BRACKETS.findall(page.read_text(encoding="utf-8"))
    }
    assert sorted(numbered) == []
