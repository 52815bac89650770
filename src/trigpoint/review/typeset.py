"""PDF by typst: a template of ours, data as JSON in an input, embedded fonts only, no packages, no network. The same
data gives the same bytes. The PDF is tagged (PDF/UA-1), so that screen readers can follow it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import typst

_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)


def compile_pdf(template: str, data: dict[str, Any]) -> bytes:
    """A PDF of a template of `review/templates`."""
    return b"".join(_compile(template, data, "pdf"))


def compile_pictures(template: str, data: dict[str, Any], *, ppi: float = 110) -> list[bytes]:
    """The same pages as PNG pictures."""
    return _compile(template, data, "png", ppi=ppi)


def _compile(template: str, data: dict[str, Any], form: Literal["pdf", "png"], ppi: float | None = None) -> list[bytes]:
    with resources.as_file(resources.files("trigpoint.review") / "templates") as folder:
        made: bytes | list[bytes] = typst.compile(
            Path(folder) / template,
            root=Path(folder),
            format=form,
            ppi=ppi,
            ignore_system_fonts=True,
            timestamp=_UNDATED,
            pdf_standards=["ua-1"] if form == "pdf" else [],
            sys_inputs={"data": json.dumps(data, ensure_ascii=False, sort_keys=True)},
        )
    return made if isinstance(made, list) else [made]
