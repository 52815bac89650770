"""Provisions over REST and on the page: listed, confirmed, corrected, taken back; a policy added; an update queued."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import httpx
import pytest

from serving_api import running_api
from trigpoint.config import Settings, load_settings
from trigpoint.policies.locate import Located
from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.placements import Placements, provisions_of, wanted_stamps
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.redis import redis_client

REVISION = "rev_NPPF_2024_12"
BASE = f"/api/v1/policies/NPPF/revisions/{REVISION}/provisions"


@pytest.fixture
def settings(tmp_path: Path, clean_redis_url: str) -> Settings:
    return load_settings(trigpoint_data_dir=tmp_path / "data", redis_url=clean_redis_url)


async def fill(url: str) -> None:
    """A revision whose text was searched: everything in paragraph 117, but one provision in doubt."""
    redis = redis_client(url)
    registry = PolicyRegistry(redis)
    await registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)
    made, _ = await registry.create_revision("NPPF", version_label="v", effective_from=date(2024, 12, 12))
    revision = await registry.mark_active("NPPF", made.revision_id, chunk_count=1, page_count=1)
    policy = await registry.get_policy("NPPF")
    placements = Placements(registry)
    found = [
        Located(p.id, "Para 117", 0.3 if p.id == "travel_plan" else 0.9, "its words", 33, "Para 118")
        for p in provisions_of(policy)
    ]
    stamp = wanted_stamps(policy, await placements.records(policy))[REVISION]
    assert await placements.put(revision, stamp, ["Para 117", "Para 118"], found, [])
    await redis.aclose()


def state(client: httpx.Client, provision: str) -> tuple[str, str | None]:
    listed = client.get(BASE).json()["provisions"]
    return next((p["state"], p["section_ref"]) for p in listed if p["provision_id"] == provision)


def test_a_section_is_confirmed_corrected_and_taken_back(settings: Settings) -> None:
    asyncio.run(fill(str(settings.redis_url)))
    with running_api(settings) as client:
        assert client.get(BASE).json()["current"] is True
        assert state(client, "priority_walking_cycling") == ("found", "Para 117")
        assert state(client, "travel_plan") == ("to_be_confirmed", "Para 117")

        assert client.put(f"{BASE}/travel_plan", json={"section_ref": "paragraph 118"}).status_code == 200
        assert state(client, "travel_plan") == ("confirmed", "Para 118")
        assert client.put(f"{BASE}/priority_walking_cycling", json={"confirm": True}).json()["state"] == "confirmed"
        assert client.put(f"{BASE}/street_trees", json={"section_ref": None}).json()["state"] == "not_stated"
        assert client.delete(f"{BASE}/travel_plan").json()["state"] == "to_be_confirmed"

        unknown = client.put(f"{BASE}/travel_plan", json={"section_ref": "Para 999"})
        nobody = client.put(f"{BASE}/cycle_parking_rates", json={"confirm": True})
        assert (unknown.status_code, nobody.status_code) == (422, 404)
        assert "Para 999" in unknown.text


def test_the_page_shows_provisions_and_takes_a_persons_word(settings: Settings) -> None:
    asyncio.run(fill(str(settings.redis_url)))
    with running_api(settings) as client:
        headers = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
        page = client.get("/policies/NPPF").text
        assert "Priority first for walking and cycling" in page
        assert "to be confirmed" in page.lower()

        path = f"/policies/NPPF/revisions/{REVISION}/provisions/travel_plan"
        assert client.post(path, data={"action": "confirm"}, headers=headers).status_code == 303
        assert state(client, "travel_plan") == ("confirmed", "Para 117")
        wrong = client.post(path, data={"action": "set", "section": "Para 999"}, headers=headers)
        assert wrong.status_code == 422
        assert "Para 999" in wrong.text

        added = {"source": "PLAN", "title": "A plan", "category": "local_plan", "authorities": "tewkesbury, cherwell"}
        assert client.post("/policies", data=added, headers=headers).status_code == 303
        assert "tewkesbury, cherwell" in client.get("/policies/PLAN").text
        assert "already exists" in client.post("/policies", data=added, headers=headers).text


def test_an_update_queues_what_is_known_and_not_loaded_once(settings: Settings) -> None:
    asyncio.run(fill(str(settings.redis_url)))
    with running_api(settings) as client:
        assert "Known but not loaded" in client.get("/policies").text
        first = client.post("/api/v1/policies/update").json()
        second = client.post("/api/v1/policies/update").json()

        assert [r["version_label"] for r in first["added"]] == ["December 2023 (digest)", "August 2026 (digest)"]
        assert second["total"] == 0


def test_a_replacement_must_have_the_dates_of_what_it_replaces(settings: Settings) -> None:
    asyncio.run(fill(str(settings.redis_url)))
    form = {"version_label": "December 2024", "effective_from": "2024-12-13"}
    with running_api(settings) as client:
        url = f"/api/v1/policies/NPPF/revisions?replace={REVISION}"
        other = client.post(url, data=form, files={"file": ("nppf.pdf", b"%PDF-1.7 x")})
        same = client.post(url, data=form | {"effective_from": "2024-12-12"}, files={"file": ("n.pdf", b"%PDF-1.7 x")})
        again = client.post(url, data=form | {"effective_from": "2024-12-12"}, files={"file": ("n.pdf", b"%PDF-1.7 x")})
        shown = client.get(f"/api/v1/policies/NPPF/revisions/{REVISION}").json()

    assert (other.status_code, same.status_code, again.status_code) == (422, 202, 409)
    assert "2024-12-12" in other.text
    assert (same.json()["version_label"], shown["version_label"], shown["status"]) == ("December 2024", "v", "active")
    files = list((settings.data_dir / "policy" / "NPPF" / REVISION).glob("*.pdf"))
    assert len(files) == 1


RATES = {
    "section": "para 118",
    "rates": [{"name": "cycle_parking_long_stay", "use": "dwellings", "count": 2, "unit": "dwelling"}],
}


def test_a_parking_standard_is_stated_read_and_taken_away(settings: Settings) -> None:
    asyncio.run(fill(str(settings.redis_url)))
    path = f"/api/v1/policies/NPPF/revisions/{REVISION}/parking-standard"
    with running_api(settings) as client:
        assert client.get(path).json()["error"]["code"] == "no_parking_standard"
        stated = client.put(path, json=RATES)
        assert (stated.status_code, stated.json()["section"]) == (200, "Para 118")
        assert client.get(path).json() == stated.json()

        wrong = [
            RATES | {"section": "Table 99"},
            RATES | {"rates": []},
            RATES | {"rates": [RATES["rates"][0] | {"use": "castles"}]},  # type: ignore[index, operator]
            RATES | {"rates": [RATES["rates"][0] | {"count": 0}]},  # type: ignore[index, operator]
        ]
        assert [client.put(path, json=one).status_code for one in wrong] == [422, 422, 422, 422]
        assert client.get(path).json() == stated.json()
        assert client.put(path.replace("2024_12", "1999_01"), json=RATES).status_code == 404

        assert client.delete(path).status_code == 204
        assert client.get(path).status_code == 404
