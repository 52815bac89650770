"""Files in and out: the sample, a round trip, errors that name their place, Search Console exports, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from trigpoint.cli.graph import app
from trigpoint.errors import GraphError
from trigpoint.graph.export import export_project
from trigpoint.graph.load import (
    items_of,
    load_document,
    load_search_csv,
    read_document,
    read_search_csv,
    sample_files,
)
from trigpoint.graph.queries import project_named
from trigpoint.graph.store import GraphStore

HEADER = "Query,Page,Clicks,Impressions,CTR,Position,Date\n"


def load(store: GraphStore, document: dict[str, object]) -> dict[str, int]:
    with store.writing() as connection:
        return dict(load_document(connection, document))


def test_the_sample_loads_whole_and_a_second_time_changes_nothing(store, api):
    document_path, csv_path = sample_files()
    (document,) = read_document(document_path)
    first = load(store, document)
    assert first["entities created"] == len(document["entities"]) >= 30
    assert first["relations created"] == len(document["relations"]) >= 40
    assert not first.get("blocks of unusual length")
    second = load(store, document)
    assert set(second) == {"entities unchanged", "relations unchanged", "blocks unchanged"} | {
        k for k in second if not second[k]
    }
    with store.writing() as connection:
        rows = load_search_csv(connection, "waymark", csv_path)
    assert rows["search rows created"] > 40
    assert rows["search rows linked to an entity"] > 0
    listed = api.get("/api/seo/search-performance", headers={"x-project-slug": "waymark"})
    assert listed["pagination"]["total"] == rows["search rows created"]
    assert 0 <= listed["data"][0]["ctr"] <= 1


def test_what_is_exported_loads_back_the_same(store, api):
    (document,) = read_document(sample_files()[0])
    load(store, document)
    with store.snapshot() as connection:
        out = export_project(connection, project_named(connection, slug="waymark"))
    out["project"]["slug"] = "copy"
    assert load(store, out)["entities created"] == len(document["entities"])
    with store.snapshot() as connection:
        again = export_project(connection, project_named(connection, slug="copy"))

    def in_any_order(part: list[dict[str, object]]) -> list[str]:
        return sorted(json.dumps(item, sort_keys=True) for item in part)

    for part in ("entities", "relations", "blocks"):
        assert in_any_order(again[part]) == in_any_order(out[part]) != []


def test_a_changed_file_changes_only_what_differs(store):
    document = {
        "project": {"slug": "p", "name": "P"},
        "entities": [{"entityType": "guide", "slug": s, "title": s} for s in "abc"],
    }
    load(store, document)
    document["entities"][1] |= {"title": "New", "status": "published"}
    assert load(store, document) == {"entities unchanged": 2, "entities changed": 1}


def test_an_entity_that_a_file_repeats_gets_the_last_values(store, api):
    titles = ("First", "Second", "First")
    document = {
        "project": {"slug": "p", "name": "P"},
        "entities": [{"entityType": "guide", "slug": "a", "title": title} for title in titles],
    }
    assert load(store, document) == {"projects created": 1, "entities created": 1, "entities changed": 2}
    (shown,) = api.get("/api/entities", headers={"x-project-slug": "p"})["data"]
    assert shown["title"] == "First"


def test_relations_that_are_there_or_repeated_are_counted_as_unchanged_and_progress_ends_at_the_total(store):
    document = {
        "project": {"slug": "p", "name": "P"},
        "entities": [{"entityType": "concept", "slug": s, "title": s} for s in "abc"],
        "relations": [
            {"relationType": "CONCEPT_RELATES_TO_CONCEPT", "from": f"concept/{a}", "to": f"concept/{b}"}
            for a, b in ("ab", "bc", "ab")
        ],
        "blocks": [{"entity": "concept/a", "text": "t", "claimType": "statistic"}] * 2,
    }
    for created, unchanged in ((2, 1), (0, 3)):
        heard: list[int] = []
        with store.writing() as connection:
            summary = load_document(connection, document, heard.append)
        assert (summary["relations created"], summary["relations unchanged"]) == (created, unchanged)
        assert sum(heard) == items_of(document) == 8


def test_a_relation_of_wrong_or_equal_ends_is_named(store):
    entities = [{"entityType": kind, "slug": "a", "title": "A"} for kind in ("concept", "news")]
    for start, end, says in (
        ("news/a", "concept/a", "needs a guide as its from-end; entity news/a is a news"),
        ("concept/a", "concept/a", "needs a guide"),
        ("guide/x", "concept/a", "there is no guide 'x'"),
    ):
        relation = {"relationType": "GUIDE_USES_CONCEPT", "from": start, "to": end}
        with pytest.raises(GraphError, match=r"relations\[0\]: .*" + says):
            load(store, {"project": {"slug": "p", "name": "P"}, "entities": entities, "relations": [relation]})
    itself = {"relationType": "CONCEPT_RELATES_TO_CONCEPT", "from": "concept/a", "to": "concept/a"}
    with pytest.raises(GraphError, match="related to itself"):
        load(store, {"project": {"slug": "p", "name": "P"}, "entities": entities, "relations": [itself]})


@pytest.mark.parametrize(
    ("part", "item", "where"),
    [
        ("entities", {"entityType": "book", "slug": "x", "title": "x"}, "entities[1]"),
        ("entities", {"entityType": "guide", "slug": "x", "title": "x", "colour": 1}, "entities[1]"),
        ("entities", "x", "entities[1]"),
        ("relations", {"relationType": "GUIDE_USES_CONCEPT", "from": "guide/a", "to": "concept/none"}, "relations[0]"),
        ("relations", {"relationType": "GUIDE_USES_CONCEPT", "from": "a", "to": "b"}, "relations[0]"),
        ("blocks", {"entity": "guide/a", "text": "t", "claimType": "x"}, "blocks[0]"),
        (
            "blocks",
            {"entity": "guide/a", "text": "t", "claimType": "statistic", "verifiedUntil": "2025-02-30"},
            "blocks[0]",
        ),
    ],
)
def test_a_bad_item_is_named_and_nothing_of_the_file_is_kept(store, api, part, item, where):
    document: dict[str, list[object]] = {"entities": [{"entityType": "guide", "slug": "a", "title": "A"}]}
    document.setdefault(part, []).append(item)
    with pytest.raises(GraphError, match=r"^" + where.replace("[", r"\[")):
        load(store, {"project": {"slug": "p", "name": "P"}, **document})
    assert [p["slug"] for p in api.get("/api/projects")["data"]] == ["psymetric"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column"),
        ("Query,Clicks\na,1\n", "pageUrl"),
        (HEADER + "q,https://x.test,one,10,10%,3,2025-01-01\n", "line 2: 'one' is not a number"),
        (HEADER + "q,https://x.test,1,10,10%,3,2025-02-30\n", "dateStart"),
        (HEADER + "q,https://x.test,11,10,10%,3,2025-01-01\n", "clicks"),
        (HEADER + "q,https://x.test,nan,10,10%,3,2025-01-01\n", "not a number"),
    ],
)
def test_a_bad_export_says_where(store, tmp_path: Path, text, says):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(GraphError, match=says), store.writing() as connection:
        load_search_csv(connection, "psymetric", path)


def test_exports_with_a_mark_thousands_and_no_dates_are_read(store, api, tmp_path: Path):
    path = tmp_path / "rows.csv"
    path.write_text(
        '\ufeffTop queries,Page,Clicks,Impressions,CTR,Position\n"kerb, dropped",https://x.test/k,"1,200","24,000",5%,3.4\n',
        encoding="utf-8",
    )
    with store.writing() as connection:
        load_search_csv(connection, "psymetric", path, start="2025-01-01", end="2025-01-31")
    (row,) = api.get("/api/seo/search-performance")["data"]
    assert (row["query"], row["clicks"], row["impressions"], row["ctr"]) == ("kerb, dropped", 1200, 24000, 0.05)
    assert (row["dateStart"], row["dateEnd"]) == ("2025-01-01T00:00:00.000Z", "2025-01-31T00:00:00.000Z")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("project: [", "cannot be read"),
        ("\xff", "cannot be read"),
        ("", "'None' is not a project. Expected"),
        ("[]", "there is no project in it. Expected"),
        ("projects: []", "there is no project in it. Expected"),
        ("3", "'3' is not a project. Expected"),
        ('"x"', "'x' is not a project. Expected"),
        ("projects: 3", "'3' is not a project. Expected"),
        ("entities: []", "`project` is missing. Expected"),
        ("project: {slug: p, name: P}\nthings: []", "Unknown field: 'things'"),
    ],
)
def test_a_file_that_is_no_document_is_refused_by_name(tmp_path: Path, text, says):
    path = tmp_path / "x.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(GraphError) as raised:
        read_document(path)
    assert raised.value.message.startswith(f"{path}: {says}")


@pytest.mark.parametrize("read", [read_document, read_search_csv])
def test_a_file_that_is_not_there_is_said_in_words(tmp_path: Path, read):
    with pytest.raises(GraphError) as raised:
        read(tmp_path / "none")
    assert raised.value.message == f"{tmp_path / 'none'}: cannot be read: no such file or directory"


def test_the_command_line_loads_lists_shows_and_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path))
    runner = CliRunner()

    def run(*args: str) -> str:
        result = runner.invoke(app, list(args), catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    loaded = run("load", "--sample")
    assert "36  entities created" in loaded
    assert loaded.endswith("Loaded into the project waymark. To look at it: trigpoint graph entities -p waymark\n")
    assert "waymark" in run("projects")
    found = json.loads(run("entities", "-p", "waymark", "--search", "MESH", "--json"))
    (mesh,) = found["data"]
    assert "CONCEPT_RELATES_TO_CONCEPT" in run("show", mesh["id"], "-p", "waymark", "--depth", "2")
    target = tmp_path / "out.json"
    run("export", "-p", "waymark", "--to", str(target))
    assert json.loads(target.read_text()) == yaml.safe_load(run("export", "-p", "waymark"))
    assert "36  entities unchanged" in run("load", str(target))
    bad = tmp_path / "bad.json"
    bad.write_text('{"project": {"slug": "p", "name": "P"}, "entities": [{}]}')
    with pytest.raises(GraphError) as raised:
        runner.invoke(app, ["load", str(bad)], catch_exceptions=False)
    assert raised.value.message.startswith(f"{bad}: entities[0]: ")
    for wrong in (["load"], ["entities", "-p", "none"], ["entities", "--type", "book"], ["show", "x"]):
        with pytest.raises(GraphError):
            runner.invoke(app, wrong, catch_exceptions=False)
