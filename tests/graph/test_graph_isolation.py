"""Two projects with random data and random requests: no answer ever holds an id or a text of the other."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

WORDS = ("kerb", "lane", "a", "100%", "_", "Ünder", "x")


def fill(api: Any, rng: random.Random, mark: str) -> tuple[str, dict[str, list[str]]]:
    """A project whose every text carries its mark."""
    project = api.project(f"{mark}-project")
    kinds = ("guide", "concept", "project", "news")
    made: dict[str, list[str]] = {kind: [] for kind in kinds}
    for n in range(14):
        kind = kinds[n % 4]
        title = f"{rng.choice(WORDS)} {mark} {rng.choice(WORDS)}"
        made[kind].append(
            api.entity(f"same-{n}" if n % 2 else f"{mark}-{n}", kind=kind, project=project, title=title, summary=mark)
        )
    for _ in range(10):
        body = {
            "relationType": "GUIDE_USES_CONCEPT",
            "fromEntityId": rng.choice(made["guide"]),
            "toEntityId": rng.choice(made["concept"]),
            "notes": mark,
        }
        api.call("POST", "/api/relationships", json=body, project=project)
    everything = [i for ids in made.values() for i in ids]
    for _ in range(6):
        body = {
            "entityId": rng.choice(everything),
            "text": f"{mark} statement",
            "claimType": "statistic",
            "topicTag": f"{mark} {rng.choice(WORDS)}",
        }
        api.post("/api/quotable-blocks", body, project=project)
    row = {
        "impressions": 5,
        "clicks": 1,
        "ctr": 0.2,
        "avgPosition": 2,
        "dateStart": "2025-01-01",
        "dateEnd": "2025-01-07",
    }
    rows = [
        row
        | {
            "query": f"{rng.choice(WORDS)} {mark} {n}",
            "pageUrl": f"https://{mark}.test/{n}",
            "entityId": rng.choice(everything),
        }
        for n in range(12)
    ]
    api.post("/api/seo/search-performance/ingest", {"rows": rows}, project=project)
    return project, made


PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "search": st.sampled_from(WORDS),
        "query": st.sampled_from(WORDS),
        "pageUrl": st.sampled_from(("https", "alpha", "beta", "%")),
        "topicTag": st.sampled_from((*WORDS, "alpha", "beta")),
        "entityType": st.sampled_from(("guide", "concept", "project", "news", "")),
        "status": st.sampled_from(("draft", "archived")),
        "limit": st.integers(0, 101).map(str),
        "page": st.integers(0, 4).map(str),
        "depth": st.sampled_from(("1", "2")),
        "dateStart": st.sampled_from(("2024-01-01", "2025-01-01", "2026-01-01")),
    },
)


@pytest.mark.timeout(300)
def test_no_answer_holds_anything_of_the_other_project(api):
    rng = random.Random(7)
    projects = {mark: fill(api, rng, mark) for mark in ("alpha", "beta")}
    ids = {mark: {project, *(i for one in made.values() for i in one)} for mark, (project, made) in projects.items()}
    cursors: dict[str, list[str]] = {"alpha": [], "beta": []}
    found = 0

    @hypothesis_settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(
        mine=st.sampled_from(("alpha", "beta")),
        kind=st.integers(0, 5),
        params=PARAMS,
        pick=st.integers(0, 10_000),
        by_slug=st.booleans(),
    )
    def ask(mine: str, kind: int, params: dict[str, str], pick: int, by_slug: bool) -> None:
        nonlocal found
        other = "beta" if mine == "alpha" else "alpha"
        everyone = sorted(ids["alpha"] | ids["beta"])
        target = everyone[pick % len(everyone)]
        path = (
            "/api/entities",
            f"/api/entities/{target}",
            f"/api/entities/{target}/graph",
            "/api/seo/search-performance",
            "/api/quotable-blocks",
            "/api/entities",
        )[kind]
        if kind in (3, 4) and pick % 3 == 0:
            params = params | {"entityId": target}
        if kind == 5 and cursors[other]:
            params = {"cursor": cursors[other][pick % len(cursors[other])]}
        headers = {"x-project-slug": f"{mine}-project"} if by_slug else {"x-project-id": projects[mine][0]}
        answer = api.call("GET", path, params=params, headers=headers)
        assert answer.status_code in (200, 400, 404)
        echoed = answer.json().get("error", {}).get("message", "")
        body = answer.text if not echoed else ""
        assert other not in body
        assert not any(ident in body for ident in ids[other])
        if target in ids[other] and kind in (1, 2) and "depth" not in params:
            assert answer.status_code == 404
        if answer.status_code == 200 and answer.json()["data"]:
            found += 1
            if cursor := answer.json().get("pagination", {}).get("nextCursor"):
                cursors[mine].append(cursor)

    ask()
    assert found > 20
