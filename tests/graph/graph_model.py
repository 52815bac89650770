"""A graph kept in plain lists, which answers every read by looking at everything. For comparison with the real one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trigpoint.graph.vocabulary import EXTERNAL_KINDS

Item = dict[str, Any]


def holds(text: str | None, term: str) -> bool:
    return text is not None and term.casefold() in text.casefold()


def newest_first(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (item["createdAt"], item["id"]), reverse=True)


@dataclass
class ProjectModel:
    """One project, as its clients have written it. Moments are texts of one width, so they sort as they are."""

    id: str
    entities: dict[str, Item] = field(default_factory=dict)
    relations: dict[str, Item] = field(default_factory=dict)
    blocks: dict[str, Item] = field(default_factory=dict)
    rows: dict[tuple[str, ...], Item] = field(default_factory=dict)

    def list_entities(self, given: Item) -> list[Item]:
        exact = {name: value for name, value in given.items() if name != "search"}
        term = given.get("search", "")
        return newest_first(
            item
            for item in self.entities.values()
            if all(item[name] == value for name, value in exact.items())
            and (holds(item["title"], term) or holds(item["slug"], term))
        )

    def list_blocks(self, given: Item) -> list[Item]:
        return newest_first(item for item in self.blocks.values() if self._fits_block(item, given))

    @staticmethod
    def _fits_block(item: Item, given: Item) -> bool:
        until = item["verifiedUntil"]
        return (
            all(item[name] == given[name] for name in ("entityId", "claimType") if name in given)
            and ("topicTag" not in given or holds(item["topicTag"], given["topicTag"]))
            and ("verifiedUntilAfter" not in given or (until is not None and until >= midnight(given["verifiedUntilAfter"])))
            and ("verifiedUntilBefore" not in given or (until is not None and until <= midnight(given["verifiedUntilBefore"])))
        )  # fmt: skip

    def list_rows(self, given: Item) -> list[Item]:
        rows = [row for row in self.rows.values() if self._fits_row(row, given)]
        rows.sort(key=lambda row: (row["query"], row["pageUrl"]))
        return sorted(rows, key=lambda row: (row["dateStart"], row["dateEnd"]), reverse=True)

    @staticmethod
    def _fits_row(row: Item, given: Item) -> bool:
        return (
            ("entityId" not in given or row["entityId"] == given["entityId"])
            and holds(row["query"], given.get("query", ""))
            and holds(row["pageUrl"], given.get("pageUrl", ""))
            and ("dateStart" not in given or row["dateStart"] >= midnight(given["dateStart"]))
            and ("dateEnd" not in given or row["dateEnd"] <= midnight(given["dateEnd"]))
        )

    def sums(self, given: Item) -> Item:
        rows = self.list_rows(given)
        shown, clicked = sum(row["impressions"] for row in rows), sum(row["clicks"] for row in rows)
        weighted = sum(row["avgPosition"] * row["impressions"] for row in rows)
        return {
            "rows": len(rows),
            "impressions": shown,
            "clicks": clicked,
            "ctr": clicked / shown if shown else None,
            "avgPosition": weighted / shown if shown else None,
        }

    def graph(self, root: str, depth: int, types: Iterable[str], most_edges: int, most_nodes: int) -> Item:
        wanted = set(types)
        edges = newest_first(e for e in self.relations.values() if not wanted or e["relationType"] in wanted)
        distance, hops, truncated = {root: 0}, dict[str, int](), False
        for hop in range(1, depth + 1):
            reached = {node for node, steps in distance.items() if steps == hop - 1}
            for edge in edges:
                ends = self.ends(edge)
                if truncated or edge["id"] in hops or not reached & set(ends):
                    continue
                new = [end for end in ends if end not in distance]
                if len(hops) == most_edges or len(distance) + len(new) > most_nodes:
                    truncated = True
                    continue
                hops[edge["id"]] = hop
                distance.update(dict.fromkeys(new, hop))
        return {
            "rootEntity": self.entities[root],
            "relationships": [
                {**edge, "hop": hops[edge["id"]], "relatedEntity": self._farther(edge, distance)}
                for edge in edges
                if edge["id"] in hops
            ],
            "depth": depth,
            "nodes": [{**self._named(node), "hop": distance[node]} for node in sorted(distance)],
            "truncated": truncated,
        }

    @staticmethod
    def ends(edge: Item) -> list[str]:
        """The ends of a relation that are entities."""
        return [edge[f"{side}EntityId"] for side in ("from", "to") if edge[f"{side}Kind"] not in EXTERNAL_KINDS]

    def _farther(self, edge: Item, distance: dict[str, int]) -> Item | None:
        ends = self.ends(edge)
        return None if len(ends) < 2 else self._named(max(ends, key=lambda end: distance[end]))

    def _named(self, entity_id: str) -> Item:
        return {name: self.entities[entity_id][name] for name in ("id", "entityType", "title", "slug", "status")}


def midnight(day: str) -> str:
    return f"{day}T00:00:00.000Z"


def page_of(items: list[Item], number: int, limit: int) -> tuple[list[Item], Item]:
    shown = items[(number - 1) * limit : number * limit]
    return shown, {"page": number, "limit": limit, "total": len(items), "hasMore": number * limit < len(items)}
