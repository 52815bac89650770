"""Small documents and applications that the portal's tests serve."""

from __future__ import annotations

from datetime import date

from trigpoint.demo.applications import sample_applications
from trigpoint.demo.register import SampleEntry, Served

REF = "25/01178/REM"
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + b"sample " * 400 + b"\n%%EOF\n"
INTERVAL = 0.03


def served(name: str, content: bytes = PDF, section: str = "Supporting Documents", description: str = "") -> Served:
    return Served(name, content, section, description or name, date(2025, 5, 21))


def register(*documents: Served, reference: str = REF) -> dict[str, SampleEntry]:
    return {reference: SampleEntry(sample_applications()[REF], tuple(documents))}
