"""PDF by typst: a template of ours, data as JSON in an input, embedded fonts only, no packages, no network. The same
data gives the same bytes. The PDF is tagged (PDF/UA-1), so that screen readers can follow it.
"""

from __future__ import annotations

import json
import logging
import unicodedata
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from trigpoint.errors import shorten

log = logging.getLogger(__name__)

_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)


def compile_pdf(template: str, data: dict[str, Any]) -> bytes:
    """Return a PDF of a template of `review/templates`."""
    import typst  # slow to import, and seldom needed

    text = json.dumps(printable(data), ensure_ascii=False, sort_keys=True)
    try:
        return _typeset(template, text, accessible=True)
    except typst.TypstError as error:
        if "could not be displayed" not in str(error):
            raise
        log.warning("the report has characters that no embedded font can show: %s", shorten(error))
        return _typeset(template, text, accessible=False)  # PDF/UA forbids the empty box that such a character becomes


def _typeset(template: str, data: str, *, accessible: bool) -> bytes:
    import typst

    with resources.as_file(resources.files("trigpoint.review") / "templates") as folder:
        made: bytes = typst.compile(
            Path(folder) / template,
            root=Path(folder),
            format="pdf",
            ignore_system_fonts=True,
            timestamp=_UNDATED,
            pdf_standards=["ua-1"] if accessible else [],
            sys_inputs={"data": data},
        )
    return made


def printable(value: Any) -> Any:
    """Return the same data without what no font shows: control characters, lone surrogates, unassigned code points."""
    match value:
        case str():
            return "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Cn") else c for c in value)
        case dict():
            return {key: printable(item) for key, item in value.items()}
        case list() | tuple():
            return [printable(item) for item in value]
        case _:
            return value
