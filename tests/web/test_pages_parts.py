"""The other parts as pages: the evidence's page from the document store, the library, the graph, the status."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from page_samples import NOWHERE, browser, result
from redis import Redis
from reportlab.pdfgen.canvas import Canvas
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from review_states import complete, fail
from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.api.web.asking import ask
from trigpoint.config import Settings, load_settings
from trigpoint.mcp import build_server as mcp_server
from trigpoint.review.result import ReviewResult

QUOTE = "Each house is provided with 2 cycle parking spaces per dwelling."


@pytest.mark.slow
def test_the_quoted_page_is_shown_with_the_passage_marked(
    site_settings: Callable[..., Settings], clean_redis_url: str
) -> None:
    settings = site_settings()
    file = settings.data_dir / "downloads" / "Transport Assessment.pdf"
    file.parent.mkdir(parents=True)
    canvas = Canvas(str(file))
    canvas.drawString(72, 700, QUOTE)
    canvas.drawString(72, 680, "There is more to say about parking, and it stands on this page too, for the reader.")
    canvas.save()
    store = mcp_server("document-store", settings).app()
    with serving(store, settings.document_store_port), serving(create_app(settings)) as address:
        args = {"file_path": str(file), "application_ref": "25/01178/REM"}
        ingested = asyncio.run(ask(settings, "document-store", "ingest_document", args))
        with browser(address) as site:
            place = site.post("/reviews", data={"application_ref": "25/01178/REM"}).headers["location"]
            stored = result().model_dump(mode="json")
            stored["review"]["aspects"][0]["findings"][0]["evidence"][0]["document_id"] = ingested["document_id"]
            complete(clean_redis_url, ReviewResult.model_validate(stored))
            shown = site.get(f"{place}/evidence/1")
            assert "with the quoted passage highlighted" in shown.text
            picture = site.get(f"{place}/evidence/1/pages/1.png")
            assert picture.headers["content-type"] == "image/png"
            assert picture.content.startswith(b"\x89PNG")
            file.unlink()
            assert "is not on this machine" in site.get(f"{place}/evidence/1").text


def test_the_library_lists_its_projects_and_answers_with_citations(
    site_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    projects = tmp_path / "trigpoint.toml"
    projects.write_text('[library.projects."team/streets"]\n[library.projects."team/other"]\n')
    settings = site_settings(trigpoint_config=projects)
    library = mcp_server("library", settings).app()
    with serving(library, settings.library_port), serving(create_app(settings)) as address, browser(address) as site:
        listed = site.get("/library")
        assert listed.status_code == 200
        assert "team/streets" in listed.text
        empty = site.get("/library/search?project=team/streets&q=kerbs")
        assert "0 passages" in empty.text
        assert site.get("/library/search?project=team/none&q=kerbs").status_code == 422


def test_without_the_library_the_page_says_so(site: httpx.Client) -> None:
    answer = site.get("/library")
    assert answer.status_code == 503
    assert "A part cannot be reached" in answer.text


@pytest.fixture
def entities(site: httpx.Client) -> list[dict[str, Any]]:
    """A guide that uses a concept, in a project of their own."""
    made = site.post("/api/projects", json={"slug": "streets", "name": "Streets <b>"})
    assert made.status_code == 201, made.text
    project = {"x-project-id": made.json()["data"]["id"]}
    kinds = (("guide", "Build a <script>kerb</script>"), ("concept", "Kerb heights"))
    created = [
        site.post(
            "/api/entities",
            json={"entityType": kind, "title": title, "slug": f"the-{kind}", "summary": "A summary."}
            | ({"conceptKind": "standard"} if kind == "concept" else {}),
            headers=project,
        )
        for kind, title in kinds
    ]
    assert all(answer.status_code == 201 for answer in created), [answer.text for answer in created]
    guide, concept = (answer.json()["data"] for answer in created)
    relation = {"relationType": "GUIDE_USES_CONCEPT", "fromEntityId": guide["id"], "toEntityId": concept["id"]}
    assert site.post("/api/relationships", json=relation, headers=project).status_code == 201
    return [guide, concept]


def test_entities_are_listed_and_a_neighbourhood_is_drawn(site: httpx.Client, entities: list[dict[str, Any]]) -> None:
    guide, concept = entities
    project = guide["projectId"]
    listed = site.get(f"/graph?project={project}&entityType=guide&search=&status=")
    assert "1 entity" in listed.text
    assert "2 entities" in site.get("/graph").text  # the default project has none
    assert "Build a &lt;script&gt;kerb&lt;/script&gt;" in listed.text
    shown = site.get(f"/graph/{guide['id']}?project={project}").text
    assert shown.count('<circle class="node') == 2
    assert shown.count('<line class="edge"') == 1
    assert f'href="/graph/{concept["id"]}?project={project}"' in shown
    assert "<script>kerb" not in shown
    assert site.get(f"/graph/{guide['id']}").status_code == 404  # of another project
    assert site.get(f"/graph/not-an-id?project={project}").status_code == 400
    assert site.get("/graph?entityType=bogus").status_code == 400


def test_status_names_what_is_down_what_waits_and_what_failed(site: httpx.Client, clean_redis_url: str) -> None:
    site.post("/reviews", data={"application_ref": "25/01178/REM"})
    fail(clean_redis_url, "The register says <no>")
    site.post("/reviews", data={"application_ref": "25/01179/REM"})
    shown = site.get("/status").text
    assert "8 parts are not working" in shown
    assert "none is running" in shown
    assert "the register of Cherwell District Council cannot be reached" in shown
    assert "The register says &lt;no&gt;" in shown
    assert "<dt>Jobs waiting</dt><dd>1</dd>" in shown


def test_without_redis_pages_say_so_and_the_status_still_answers(free_port: Callable[[], int], tmp_path: Path) -> None:
    away = f"redis://127.0.0.1:{free_port()}"
    settings = load_settings(redis_url=away, trigpoint_data_dir=tmp_path, cherwell_portal_url=NOWHERE)
    with serving(create_app(settings)) as address, browser(address) as site:
        for path in ("/", "/policies"):
            answer = site.get(path)
            assert answer.status_code == 503
            assert "A part cannot be reached" in answer.text
            assert "REDIS_URL" in answer.text
        shown = site.get("/status")
        assert shown.status_code == 200
        assert "Redis" in shown.text.split("not working:")[1].split("<")[0]


def test_status_tells_a_living_worker_an_address_with_a_path_and_a_model_of_a_wrong_name(
    site_settings: Callable[..., Settings], clean_redis_url: str
) -> None:
    store = Starlette(routes=[Route("/health", lambda request: JSONResponse({"status": "ok"}))])
    with serving(store) as there:
        settings = site_settings(document_store_url=f"{there}/mcp", trigpoint_model="clod:opus")
        with Redis.from_url(clean_redis_url) as redis:
            redis.sadd("workers", "host:1:a", "host:2:gone")
            redis.set("worker:host:1:a", "1")
        with serving(create_app(settings)) as address, browser(address) as site:
            shown = site.get("/status").text
    rows = {name: row for row in shown.split("<tr>") for name in re.findall(r'scope="row">([^<]+)<', row)}
    assert "1 running" in rows["Worker"]
    assert ">Up<" in rows["Document store"]
    assert ">Down<" in rows["Model"]
    assert "TRIGPOINT_MODEL=clod:opus cannot be used" in rows["Model"]


def test_the_page_of_a_public_comment_is_quoted_and_not_shown(site: httpx.Client, clean_redis_url: str) -> None:
    place = str(site.post("/reviews", data={"application_ref": "25/01178/REM"}).headers["location"])
    given = json.loads(result().model_dump_json())
    for citation in _citations(given["review"]):
        citation["document"] = "Public comment 0a495d.pdf"
    complete(clean_redis_url, ReviewResult.model_validate(given))
    page = site.get(place).text
    assert "strip.png" not in page
    assert "2 cycle parking spaces per dwelling" in page
    assert site.get(f"{place}/evidence/1/strip.png").status_code == 403
    assert site.get(f"{place}/evidence/1/pages/1.png").status_code == 403


def _citations(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        if "document_id" in data and "quote" in data:
            yield data
        for value in data.values():
            yield from _citations(value)
    elif isinstance(data, list):
        for one in data:
            yield from _citations(one)
