"""Recorded answers of a model to the requests of a sample application's review, shipped with the demo."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from trigpoint.ids import ref_as_name


def recorded_answers(reference: str, folder: Path | None = None) -> Path | None:
    """Return the transcript of a sample application, or None if none has been recorded."""
    home = folder or Path(str(resources.files("trigpoint.demo") / "transcripts"))
    file = home / f"{ref_as_name(reference)}.jsonl"
    return file if file.is_file() else None
