"""The page that a quotation is on, as a picture in which it is marked."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from library_samples import library_settings
from typer.testing import CliRunner

from trigpoint.cli.main import app


def test_the_page_of_a_quotation_is_drawn_with_it_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library_settings(tmp_path, '[library.projects."p"]\n')
    monkeypatch.setenv("TRIGPOINT_CONFIG", str(tmp_path / "trigpoint.toml"))
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "files").mkdir()
    with pymupdf.open() as document:
        for words in ("The first page speaks of lamps.", "The keeper lit the lamp on the quay."):
            document.new_page().insert_text((72, 100), words)
        document.save(tmp_path / "files" / "lamps.pdf")

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, ["library", *words, "-p", "p"])
        return " ".join((result.output + str(result.exception or "")).split())

    run("ingest", str(tmp_path / "files"))
    picture = tmp_path / "page.png"
    said = run("page", "keeper lit the lamp", "-o", str(picture))
    assert "p. 2" in said
    assert said.endswith("(marked)")
    drawn = pymupdf.Pixmap(picture)
    assert drawn.width > 300
    assert not drawn.is_unicolor
    assert "says that on a page" in run("page", "nobody wrote this", "-o", str(tmp_path / "none.png"))
    assert not (tmp_path / "none.png").exists()
