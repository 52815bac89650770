"""Every read of the graph against a model in plain lists, after random writes, over HTTP, on both databases.

`GRAPH_SEEDS=100` compares so many random graphs instead of six; all but the first are slow tests.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from graph_model import Item, ProjectModel, midnight, page_of
from test_graph_search import HOSTILE, texts

from trigpoint.graph.vocabulary import (
    CLAIM_TYPES,
    CONCEPT_KINDS,
    DIFFICULTIES,
    ENTITY_TYPES,
    EXTERNAL_KINDS,
    LIFECYCLE,
    RELATION_ENDS,
    STATUSES,
)

DEFAULT = "00000000-0000-4000-a000-000000000001"
SEEDS = range(int(os.environ.get("GRAPH_SEEDS", "6")))
DAYS = [f"2025-0{month}-{day:02d}" for month in range(1, 4) for day in (1, 2, 15, 28)]


class Writer:
    """Writes at random through the API, and the same into the model; what is refused changes neither."""

    def __init__(self, api: Any, rng: random.Random, project: ProjectModel) -> None:
        self.api, self.rng, self.model = api, rng, project

    def write(self, times: int) -> None:
        actions: list[tuple[int, Callable[[], None]]] = [
            (6, self.entity), (3, self.change), (2, self.move), (1, self.verify), (16, self.relation),
            (2, self.unrelate), (3, self.block), (2, self.rows),
        ]  # fmt: skip
        weights, steps = zip(*actions, strict=True)
        for _ in range(8):
            self.entity()
        for step in self.rng.choices(steps, weights, k=times):
            step()

    def entity(self) -> None:
        kind = self.rng.choice(ENTITY_TYPES)
        body = {"entityType": kind, "slug": self._slug(), "title": texts(self.rng, 1)[0]}
        if kind == "concept" and self.rng.random() < 0.7:
            body["conceptKind"] = self.rng.choice(CONCEPT_KINDS)
        if self.rng.random() < 0.3:
            body["difficulty"] = self.rng.choice(DIFFICULTIES)
        taken = any((e["entityType"], e["slug"]) == (kind, body["slug"]) for e in self.model.entities.values())
        self._keep(self.model.entities, self._send("POST", "/api/entities", body, 409 if taken else 201))

    def change(self) -> None:
        entity = self._any_entity()
        body = self.rng.choice(
            [{"title": texts(self.rng, 1)[0]}, {"slug": self._slug()}, {"summary": "short"}, {"difficulty": None}]
        )
        others = (e for e in self.model.entities.values() if e["id"] != entity["id"])
        taken = any((e["entityType"], e["slug"]) == (entity["entityType"], body.get("slug")) for e in others)
        self._keep(
            self.model.entities, self._send("PATCH", f"/api/entities/{entity['id']}", body, 409 if taken else 200)
        )

    def move(self) -> None:
        entity, action = self._any_entity(), self.rng.choice(list(LIFECYCLE))
        status = 200 if entity["status"] in LIFECYCLE[action][0] else 409
        self._keep(self.model.entities, self._send("POST", f"/api/entities/{entity['id']}/{action}", None, status))

    def verify(self) -> None:
        path = f"/api/entities/{self._any_entity()['id']}/verify-freshness"
        self._keep(self.model.entities, self._send("POST", path, None, 200))

    def relation(self) -> None:
        kind = self.rng.choice(list(RELATION_ENDS))
        ends = [self._end(end) for end in RELATION_ENDS[kind]]
        if None in ends or ends[0] == ends[1]:
            return
        body = {"relationType": kind, "fromEntityId": ends[0], "toEntityId": ends[1]}
        taken = any(all(r[name] == value for name, value in body.items()) for r in self.model.relations.values())
        self._keep(self.model.relations, self._send("POST", "/api/relationships", body, 409 if taken else 201))

    def unrelate(self) -> None:
        if self.model.relations:
            gone = self.rng.choice(list(self.model.relations))
            self._send("DELETE", f"/api/relationships/{gone}", None, 200)
            del self.model.relations[gone]

    def block(self) -> None:
        body = {"entityId": self._any_entity()["id"], "text": "A claim.", "claimType": self.rng.choice(CLAIM_TYPES)}
        if self.rng.random() < 0.7:
            body["topicTag"] = texts(self.rng, 1)[0]
        if self.rng.random() < 0.7:
            body["verifiedUntil"] = self.rng.choice(DAYS)
        self._keep(self.model.blocks, self._send("POST", "/api/quotable-blocks", body, 201))

    def rows(self) -> None:
        made = {}
        for _ in range(self.rng.randint(1, 12)):
            start, end = sorted(self.rng.choices(DAYS, k=2))
            key = (
                self.rng.choice(("Planning", "bike SHED", "ß-bahn", "a%")),
                f"https://x.test/{self.rng.choice('abÉ')}",
            )
            impressions = self.rng.randrange(100)
            row = {"query": key[0], "pageUrl": key[1], "dateStart": start, "dateEnd": end, "impressions": impressions,
                   "clicks": self.rng.randint(0, impressions), "ctr": 0.25, "avgPosition": self.rng.randint(1, 40) / 4}  # fmt: skip
            if self.rng.random() < 0.6:
                row["entityId"] = self.rng.choice((None, self._any_entity()["id"]))
            made[*key, start, end] = row
        answer = self._send("POST", "/api/seo/search-performance/ingest", {"rows": list(made.values())}, 200)
        new = len(made.keys() - self.model.rows.keys())
        assert answer == {"received": len(made), "inserted": new, "updated": len(made) - new}
        for key, row in made.items():
            before = self.model.rows.get(key, {"entityId": None})
            dates = {name: midnight(row[name]) for name in ("dateStart", "dateEnd")}
            self.model.rows[key] = {"projectId": self.model.id, **before, **row, **dates}

    def _keep(self, items: dict[str, Item], answer: Item | None) -> None:
        if answer is not None:
            items[answer["id"]] = answer

    def _send(self, method: str, path: str, body: Any, status: int) -> Any:
        answer = self.api.post(path, body, method=method, project=self.model.id, status=status)
        return answer["data"] if status < 300 else None

    def _any_entity(self) -> Item:
        return self.rng.choice(list(self.model.entities.values()))

    def _end(self, kind: str) -> str | None:
        if kind in EXTERNAL_KINDS:
            return f"{kind}-{self.rng.randrange(4)}"
        fitting = [e["id"] for e in self.model.entities.values() if e["entityType"] == kind]
        return self.rng.choice(fitting) if fitting else None

    def _slug(self) -> str:
        return f"{self.rng.choice(('ab', 'cd-e', 'x'))}-{self.rng.randrange(60)}"


class Reader:
    """Asks at random, and compares whole answers with the model's."""

    def __init__(self, api: Any, rng: random.Random, model: ProjectModel, caps: tuple[int, int]) -> None:
        self.api, self.rng, self.model, self.caps = api, rng, model, caps
        self.read = 0

    def everything(self, times: int) -> int:
        for _ in range(times):
            for _ in range(3):
                self.lists("/api/entities", self._entity_filter(), self.model.list_entities)
                self.graph()
            self.lists("/api/quotable-blocks", self._block_filter(), self.model.list_blocks)
            self.lists("/api/seo/search-performance", self._row_filter(), self.model.list_rows)
            self.compared()
        for entity_id, entity in self.model.entities.items():
            assert self._get(f"/api/entities/{entity_id}") == {"data": entity}
        return self.read

    def lists(self, path: str, given: Item, expected_by: Callable[[Item], list[Item]]) -> None:
        expected = expected_by(given)
        limit, number = self.rng.choice((1, 3, 20, 100)), self.rng.choice((1, 1, 2, 5))
        answer = self._get(path, **given, limit=limit, page=number)
        items, pagination = page_of(expected, number, limit)
        assert self._known(answer["data"]) == items, given
        assert {**pagination, "nextCursor": answer["pagination"]["nextCursor"]} == answer["pagination"], given
        self._by_cursor(path, given, expected, self.rng.choice((2, 7, 50)))

    def _by_cursor(self, path: str, given: Item, expected: list[Item], limit: int) -> None:
        seen, cursor = [], None
        while cursor is not None or not seen:
            answer = self._get(path, **given, limit=limit, **({"cursor": cursor} if cursor else {}))
            seen += answer["data"]
            cursor = answer["pagination"]["nextCursor"]
            assert answer["pagination"]["total"] == len(expected)
            assert answer["pagination"]["hasMore"] is (cursor is not None)
            if not answer["data"]:
                break
        assert self._known(seen) == expected, given

    def compared(self) -> None:
        first, second = sorted(self.rng.choices(DAYS, k=2)), sorted(self.rng.choices(DAYS, k=2))
        given = {name: value for name, value in self._row_filter().items() if not name.startswith("date")}
        periods = {"firstStart": first[0], "firstEnd": first[1], "secondStart": second[0], "secondEnd": second[1]}
        found = self._get("/api/seo/search-performance/compare", **given, **periods)["data"]
        for name, (start, end) in (("first", first), ("second", second)):
            assert found[name] == pytest.approx(self.model.sums({**given, "dateStart": start, "dateEnd": end}))

    def graph(self) -> None:
        root, depth = self.rng.choice(list(self.model.entities)), self.rng.choice((1, 2))
        types = self.rng.sample(list(RELATION_ENDS), self.rng.choice((0, 0, 1, 5, 12)))
        given = {"relationshipTypes": ",".join(types)}
        answer = self._get(f"/api/entities/{root}/graph", depth=depth, **given)["data"]
        cursor = answer.pop("nextCursor")
        assert answer == self.model.graph(root, depth, types, *self.caps)
        own = {e["id"] for e in answer["relationships"] if e["hop"] == 1}
        while cursor is not None:
            answer = self._get(f"/api/entities/{root}/graph", cursor=cursor, **given)["data"]
            cursor = answer["nextCursor"]
            further = {e["id"] for e in answer["relationships"]}
            assert further.isdisjoint(own)
            own |= further
        every = (e for e in self.model.relations.values() if not types or e["relationType"] in types)
        assert own == {e["id"] for e in every if root in self.model.ends(e)}

    def _known(self, items: list[Item]) -> list[Item]:
        """Without what only the database knows of a search row."""
        return [{k: v for k, v in i.items() if "query" not in i or k not in ("id", "capturedAt")} for i in items]

    def _get(self, path: str, **params: Any) -> Any:
        self.read += 1
        return self.api.get(path, project=self.model.id, params=params)

    def _some(self, **choices: Callable[[], Any]) -> Item:
        share = self.rng.choice((0.2, 0.5))
        return {name: make() for name, make in choices.items() if self.rng.random() < share}

    def _entity_filter(self) -> Item:
        return self._some(
            entityType=lambda: self.rng.choice(ENTITY_TYPES),
            status=lambda: self.rng.choice(STATUSES),
            conceptKind=lambda: self.rng.choice(CONCEPT_KINDS),
            search=lambda: self._term(
                [text for e in self.model.entities.values() for text in (e["title"], e["slug"], e["title"] + e["slug"])]
            ),
        )

    def _block_filter(self) -> Item:
        after, before = sorted(self.rng.choices(DAYS, k=2))
        return self._some(
            entityId=lambda: self.rng.choice(list(self.model.entities)),
            claimType=lambda: self.rng.choice(CLAIM_TYPES),
            topicTag=lambda: self._term([b["topicTag"] for b in self.model.blocks.values() if b["topicTag"]] or ["a"]),
            verifiedUntilAfter=lambda: after,
            verifiedUntilBefore=lambda: before,
        )

    def _row_filter(self) -> Item:
        start, end = sorted(self.rng.choices(DAYS, k=2))
        return self._some(
            query=lambda: self._term(["Planning", "bike SHED", "ß-bahn", "a%"]),
            pageUrl=lambda: self.rng.choice(("x.test", "/É", "/a", "nowhere")),
            entityId=lambda: self.rng.choice(list(self.model.entities)),
            dateStart=lambda: start,
            dateEnd=lambda: end,
        )

    def _term(self, among: list[str]) -> str:
        """A piece of one of the texts, often in another case; now and then something hostile."""
        if self.rng.random() < 0.15:
            return self.rng.choice([term for term in HOSTILE if term.isprintable()])
        text = self.rng.choice(among)
        at = self.rng.randrange(len(text))
        piece = text[at : at + self.rng.randint(1, 6)]
        return self.rng.choice((piece, piece.upper(), piece.lower(), piece.swapcase()))


def clock_that_stands_still_now_and_then(rng: random.Random) -> Callable[[], int]:
    moment = 1_750_000_000_000

    def tick() -> int:
        nonlocal moment
        moment += rng.choice((0, 0, 1, 1000))
        return moment

    return tick


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.slow] if n else []) for n in SEEDS])
def test_every_read_agrees_with_the_model_after_random_writes(open_api, monkeypatch, seed, request):
    rng = random.Random(seed)
    if seed % 2:
        request.getfixturevalue("walk_always")
    for module in ("writes", "ingest"):
        monkeypatch.setattr(f"trigpoint.graph.{module}.this_moment", clock_that_stands_still_now_and_then(rng))
    caps = (rng.randint(1, 30), rng.randint(2, 20)) if seed % 3 else (200, 100)
    api = open_api(graph_max_edges=caps[0], graph_max_nodes=caps[1])
    models = [ProjectModel(DEFAULT), ProjectModel(api.project("other"))]
    for _ in range(2):  # what is written after a read is read, too
        for model in models:
            Writer(api, rng, model).write(50 + 20 * (seed % 5))
        for model in models:
            assert Reader(api, rng, model, caps).everything(12) > 100
    assert [(p["slug"], p["id"]) for p in api.get("/api/projects")["data"]] == [
        ("other", models[1].id),
        ("psymetric", DEFAULT),
    ]
