"""The entity graph against a brute-force model on random graphs: order, hop, relatedEntity, boundary, filter, caps."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sqlalchemy import insert
from test_graph_reads import put_entities, uuid_of

from trigpoint.graph.inputs import GraphFilter
from trigpoint.graph.moments import print_moment
from trigpoint.graph.neighbourhood import Caps, entity_graph
from trigpoint.graph.tables import entity_relation, project
from trigpoint.graph.vocabulary import EXTERNAL_KINDS, RELATION_ENDS

DEFAULT = "00000000-0000-4000-a000-000000000001"
OTHER = uuid_of(0xFFFF)
KINDS = ("guide", "concept", "project", "news")


def kind_of(number: int) -> str:
    return KINDS[number % 4]


def random_edges(rng: random.Random, nodes: range, count: int, project_id: str, first_id: int) -> list[dict[str, Any]]:
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    while len(edges) < count:
        relation_type = rng.choice(list(RELATION_ENDS))
        row: dict[str, Any] = {"relation_type": relation_type, "project_id": project_id}
        for side, kind in zip(("from", "to"), RELATION_ENDS[relation_type], strict=True):
            if kind in EXTERNAL_KINDS:
                ident, entity_id = f"{kind}-{rng.randrange(4)}", None
            else:
                ident = entity_id = uuid_of(rng.choice([n for n in nodes if kind_of(n) == kind]))
            row |= {f"{side}_id": ident, f"{side}_kind": kind, f"{side}_entity_id": entity_id}
        if row["from_id"] != row["to_id"]:
            row |= {"id": uuid_of(first_id + len(edges)), "created_at": 1000 + rng.randrange(8), "notes": None}
            edges.setdefault((row["from_id"], relation_type, row["to_id"]), row)
    return list(edges.values())


def model(edges: list[dict[str, Any]], root: str, depth: int, types: tuple[str, ...], caps: Caps) -> dict[str, Any]:
    """What the contract says, by looking at every edge."""
    usable = [e for e in edges if e["project_id"] == DEFAULT and (not types or e["relation_type"] in types)]
    usable.sort(key=lambda e: (e["created_at"], e["id"]), reverse=True)
    distance, taken, truncated = {root: 0}, {}, False
    for hop in range(1, depth + 1):
        frontier = {n for n, d in distance.items() if d == hop - 1}
        for edge in usable:
            ends = [e for e in (edge["from_entity_id"], edge["to_entity_id"]) if e]
            if truncated or edge["id"] in taken or not frontier & set(ends):
                continue
            new = [e for e in ends if e not in distance]
            if len(taken) + 1 > caps.edges or len(distance) + len(new) > caps.nodes:
                truncated = True
                continue
            taken[edge["id"]] = (edge, hop)
            distance.update(dict.fromkeys(new, hop))
    shown = []
    for edge in usable:
        if edge["id"] in taken:
            start, end = edge["from_entity_id"], edge["to_entity_id"]
            related = None if not (start and end) else start if distance[start] >= distance[end] else end
            shown.append(
                (
                    edge["id"],
                    taken[edge["id"]][1],
                    related,
                    edge["from_id"],
                    edge["to_id"],
                    print_moment(edge["created_at"]),
                )
            )
    return {"edges": shown, "nodes": sorted(distance.items()), "truncated": truncated}


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_brute_force_on_random_graphs(store, seed):
    rng = random.Random(seed)
    nodes, others = range(40), range(100, 120)
    put_entities(store, [{"id": uuid_of(n), "slug": f"e{n}", "entity_type": kind_of(n)} for n in nodes])
    with store.writing() as connection:
        connection.execute(
            insert(project), {"id": OTHER, "slug": "other", "name": "o", "created_at": 0, "updated_at": 0}
        )
    put_entities(store, [{"id": uuid_of(n), "slug": f"e{n}", "entity_type": kind_of(n)} for n in others], OTHER)
    edges = random_edges(rng, nodes, 30 * (seed + 1), DEFAULT, 1000) + random_edges(rng, others, 30, OTHER, 5000)
    with store.writing() as connection:
        connection.execute(insert(entity_relation), edges)
    with store.snapshot() as connection:
        for _ in range(60):
            root, depth = uuid_of(rng.choice(nodes)), rng.choice((1, 2))
            types = tuple(rng.sample(list(RELATION_ENDS), rng.choice((0, 0, 1, 5, 12))))
            caps = rng.choice((Caps(), Caps(), Caps(rng.randint(1, 40), rng.randint(1, 30))))
            found = entity_graph(connection, DEFAULT, root, GraphFilter(depth=depth, relationship_types=types), caps)
            expected = model(edges, root, depth, types, caps)
            shown = [
                (r.id, r.hop, r.related_entity and r.related_entity.id, r.from_entity_id, r.to_entity_id, r.created_at)
                for r in found.relationships
            ]
            assert shown == expected["edges"]
            assert [(n.id, n.hop) for n in found.nodes] == expected["nodes"]
            assert found.truncated is expected["truncated"]
            assert (found.depth, found.root_entity.id) == (depth, root)
            assert len(found.relationships) <= caps.edges
            assert len(found.nodes) <= caps.nodes


def test_depth_and_types_are_checked_and_empty_ones_count_as_absent(api):
    guide, concept, far = api.entity("g"), api.entity("c", kind="concept"), api.entity("n", kind="news")
    near = api.relation("GUIDE_USES_CONCEPT", guide, concept)
    other = api.relation("NEWS_REFERENCES_CONCEPT", far, concept)
    source = api.relation("GUIDE_REFERENCES_SOURCE", guide, "https://x.test/s")
    path = f"/api/entities/{guide}/graph"
    for bad in (
        "depth=0",
        "depth=3",
        "depth=x",
        "depth=1.0",
        "depth=%2B1",
        "relationshipTypes=LIKES",
        "relationshipTypes=GUIDE_USES_CONCEPT,guide_uses_concept",
    ):
        assert api.get(f"{path}?{bad}", status=400)["error"]["code"] == "BAD_REQUEST"
    one = api.get(f"{path}?depth=&relationshipTypes=")["data"]
    assert list(one)[:3] == ["rootEntity", "relationships", "depth"]
    assert {r["id"] for r in one["relationships"]} == {near, source}
    assert one["depth"] == 1
    assert len(one["rootEntity"]) == 14
    two = api.get(f"{path}?depth=2&relationshipTypes=NEWS_REFERENCES_CONCEPT, GUIDE_USES_CONCEPT,")["data"]
    assert [(r["id"], r["hop"], r["relatedEntity"]["slug"]) for r in two["relationships"]] == [
        (other, 2, "n"),
        (near, 1, "c"),
    ]
    by_id = {r["id"]: r for r in one["relationships"]}
    assert by_id[source]["relatedEntity"] is None
    assert by_id[near]["relatedEntity"] == {
        "id": concept,
        "entityType": "concept",
        "title": "C",
        "slug": "c",
        "status": "draft",
    }
    assert set(by_id[near]) >= {
        "id",
        "relationType",
        "fromEntityId",
        "toEntityId",
        "notes",
        "createdAt",
        "relatedEntity",
    }


def test_the_caps_are_settings_and_a_cut_is_said(open_api):
    api = open_api(graph_max_edges=3, graph_max_nodes=100)
    guide = api.entity("g")
    for n in range(4):
        api.relation("GUIDE_USES_CONCEPT", guide, api.entity(f"c{n}", kind="concept"))
    cut = api.get(f"/api/entities/{guide}/graph")["data"]
    assert (len(cut["relationships"]), cut["truncated"]) == (3, True)
    whole = api.get(f"/api/entities/{guide}/graph?relationshipTypes=GUIDE_EXPLAINS_CONCEPT")["data"]
    assert (whole["relationships"], whole["truncated"]) == ([], False)


def edges_by_cursor(api: Any, path: str, depth: int) -> tuple[list[str], int]:
    """The relations of all pages, and how many pages there were."""
    seen: list[str] = []
    cursor, pages = "", 0
    while True:
        data = api.get(path, params={"cursor": cursor, "depth": depth})["data"]
        assert data["depth"] == depth
        seen += [edge["id"] for edge in data["relationships"] if edge["hop"] == 1]
        pages += 1
        assert data["truncated"] is (data["nextCursor"] is not None)
        if not (cursor := data["nextCursor"]):
            return seen, pages


@pytest.mark.parametrize(("edges", "nodes", "pages"), [(7, 100, 5), (200, 5, 8), (1, 100, 30), (200, 100, 1)])
def test_a_hub_is_read_whole_by_cursors(open_api, store, edges, nodes, pages):
    api = open_api(graph_max_edges=edges, graph_max_nodes=nodes)
    put_entities(store, [{"id": uuid_of(n), "slug": f"e{n}", "entity_type": "concept"} for n in range(31)])
    rows = [
        {
            "id": uuid_of(1000 + n),
            "project_id": DEFAULT,
            "relation_type": "CONCEPT_RELATES_TO_CONCEPT",
            "created_at": 1000 + n // 4,
            "notes": None,
            **{f"{side}_{part}": value for side, end in zip(("from", "to"), ends, strict=True)
               for part, value in (("id", uuid_of(end)), ("entity_id", uuid_of(end)), ("kind", "concept"))},
        }
        for n in range(1, 31)
        for ends in [(0, n) if n % 3 else (n, 0)]
    ]  # fmt: skip
    with store.writing() as connection:
        connection.execute(insert(entity_relation), rows)
    expected = [row["id"] for row in sorted(rows, key=lambda r: (r["created_at"], r["id"]), reverse=True)]
    path = f"/api/entities/{uuid_of(0)}/graph"
    for depth in (1, 2):
        assert edges_by_cursor(api, path, depth) == (expected, pages)


def test_a_cursor_of_a_graph_belongs_to_its_entity_and_types(open_api):
    api = open_api(graph_max_edges=1)
    guides = [api.entity(f"g{n}") for n in range(2)]
    for n in range(3):
        concept = api.entity(f"c{n}", kind="concept")
        for guide in guides:
            api.relation("GUIDE_USES_CONCEPT", guide, concept)
    cursor = api.get(f"/api/entities/{guides[0]}/graph")["data"]["nextCursor"]
    assert api.get(f"/api/entities/{guides[0]}/graph", params={"cursor": cursor})["data"]["nextCursor"]
    typed = {"cursor": cursor, "relationshipTypes": "GUIDE_USES_CONCEPT"}
    for path, params in ((guides[1], {"cursor": cursor}), (guides[0], typed), (guides[0], {"cursor": "x"})):
        assert "cursor" in api.get(f"/api/entities/{path}/graph", params=params, status=400)["error"]["message"]
