"""The six tools over MCP, as a client sees them, with digests as policy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.errors import ToolFailed
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.policy_kb import server
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.files import write_atomic
from trigpoint.storage.redis import redis_client


@pytest.fixture
async def client(tmp_path: Path, clean_redis_url: str, serve: Any) -> AsyncIterator[ToolClient]:
    settings = load_settings(trigpoint_data_dir=tmp_path / "data", redis_url=clean_redis_url)
    redis = redis_client(clean_redis_url)
    registry = PolicyRegistry(redis)
    await registry.create_policy("NPPF", "National Planning Policy Framework", PolicyCategory.NATIONAL_POLICY)
    async with serve(server(settings).app()) as url, ToolClient(url) as connected:
        for start, name in ((date(2023, 9, 5), "NPPF_2023_09.md"), (date(2024, 12, 12), "NPPF_2024_12.md")):
            path = settings.data_dir / name.replace(".md", ".pdf")
            write_atomic(path, digest_pdf(read_digest(name)))
            revision, _ = await registry.create_revision("NPPF", version_label=f"{start:%B %Y}", effective_from=start)
            answer = await connected.call(
                "ingest_policy_revision",
                {"source": "NPPF", "revision_id": revision.revision_id, "file_path": str(path)},
            )
            assert answer == {
                "status": "success",
                "source": "NPPF",
                "revision_id": revision.revision_id,
                "chunks_created": answer["chunks_created"],
                "page_count": 7,
                "extraction_method": "text_layer",
            }
            await registry.mark_active(
                "NPPF", revision.revision_id, chunk_count=answer["chunks_created"], page_count=answer["page_count"]
            )
        yield connected
    await redis.aclose()


async def failure(client: ToolClient, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(ToolFailed) as failed:
        await client.call(tool, args)
    return failed.value.details


async def test_the_tools_answer_in_the_shapes_of_the_contract(client: ToolClient) -> None:
    found = await client.call(
        "search_policy", {"query": "refused on highways grounds", "effective_date": "2023-10-15", "n_results": 2}
    )
    assert {k: v for k, v in found.items() if k != "results"} == {
        "status": "success",
        "query": "refused on highways grounds",
        "effective_date": "2023-10-15",
        "results_count": 2,
    }
    top = found["results"][0]
    assert set(top) == {
        "chunk_id", "text", "relevance_score", "source", "revision_id", "version_label", "section_ref", "page_number",
    }  # fmt: skip
    assert (top["section_ref"], top["revision_id"], top["version_label"]) == (
        "Para 111",
        "rev_NPPF_2023_09",
        "September 2023",
    )
    hybrid = await client.call("search_policy", {"query": "highways grounds", "mode": "hybrid"})
    assert 0 < hybrid["results"][0]["score"] <= 1
    assert hybrid["effective_date"] is None

    section = await client.call("get_policy_section", {"source": "NPPF", "section_ref": "Paragraph 116"})
    assert set(section) == {
        "status", "source", "section_ref", "revision_id", "version_label", "text", "page_numbers",
    }  # fmt: skip
    assert (section["section_ref"], section["revision_id"]) == ("Para 116", "rev_NPPF_2024_12")

    documents = await client.call("list_policy_documents", {})
    assert {k: v for k, v in documents.items() if k != "warnings"} == {
        "status": "success",
        "policy_count": 1,
        "policies": [{"source": "NPPF", "title": "National Planning Policy Framework", "category": "national_policy"}],
    }
    assert ["December 2023" in documents["warnings"][0], "August 2026" in documents["warnings"][1]] == [True, True]
    listed = await client.call("list_policy_revisions", {"source": "NPPF"})
    assert [(r["revision_id"], r["effective_from"], r["effective_to"], r["status"]) for r in listed["revisions"]] == [
        ("rev_NPPF_2024_12", "2024-12-12", None, "active"),
        ("rev_NPPF_2023_09", "2023-09-05", "2024-12-11", "superseded"),
    ]
    assert listed["revision_count"] == 2

    removed = await client.call("remove_policy_revision", {"source": "NPPF", "revision_id": "rev_NPPF_2023_09"})
    assert removed == {
        "status": "success",
        "source": "NPPF",
        "revision_id": "rev_NPPF_2023_09",
        "chunks_removed": listed["revisions"][1]["chunk_count"],
    }
    again = await client.call("remove_policy_revision", {"source": "NPPF", "revision_id": "rev_NPPF_2023_09"})
    assert again["chunks_removed"] == 0


async def test_failures_have_the_envelope_of_the_contract(client: ToolClient) -> None:
    for bad in ("2024-02-30", "15/03/2024", "2024-3-15", "2024-03-15\n"):
        refused = await failure(client, "search_policy", {"query": "x", "effective_date": bad})
        assert (refused["status"], refused["error_type"]) == ("error", "invalid_date")
    before = await client.call("search_policy", {"query": "x", "effective_date": "1999-01-01"})
    assert (before["results_count"], before["results"]) == (0, [])
    absent = await failure(client, "get_policy_section", {"source": "NPPF", "section_ref": "Para 999"})
    assert (absent["status"], absent["error_type"]) == ("error", "section_not_found")
    assert absent["message"].startswith("Section 'Para 999' not found in policy 'NPPF'. Searched the revision")
    assert "(rev_NPPF_2024_12). Nearest: Para " in absent["message"]
    missing = {"source": "NPPF", "revision_id": "rev_NPPF_2024_12", "file_path": "/nowhere.pdf"}
    assert (await failure(client, "ingest_policy_revision", missing))["error_type"] == "file_not_found"
    assert (await failure(client, "list_policy_revisions", {"source": "NONE"}))["error_type"] == "policy_not_found"
    for args in ({"query": ""}, {"query": "x", "n_results": 0}, {"query": "x", "mode": "magic"}, {}):
        assert (await failure(client, "search_policy", args))["error_type"] == "validation_error"


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ({"source": "NPF"}, "There is no such policy"),
        (
            {"source": "NPPF", "revision_id": "REV_NPPF_2024_12"},
            "It has no revision 'REV_NPPF_2024_12', but rev_NPPF_2024_12, rev_NPPF_2023_09",
        ),
    ],
)
async def test_an_unknown_policy_or_revision_is_not_blamed_on_the_section(
    client: ToolClient, named: dict[str, Any], reason: str
) -> None:
    refused = await failure(client, "get_policy_section", {"section_ref": "Para 116", **named})
    assert refused["error_type"] == "section_not_found"
    assert refused["message"] == f"Section 'Para 116' not found in policy '{named['source']}'. {reason}"


async def test_without_redis_the_server_starts_and_says_what_is_missing(
    tmp_path: Path, free_port: Any, serve: Any
) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path / "data", redis_url=f"redis://127.0.0.1:{free_port()}/0")
    async with serve(server(settings).app()) as url, ToolClient(url) as client:
        refused = await failure(client, "list_policy_documents", {})
        assert refused["error_type"] == "registry_unavailable"
        assert "REDIS_URL" in refused["message"]


async def test_a_name_or_a_day_that_is_not_known_is_told_apart_from_nothing_found(client: ToolClient) -> None:
    unknown = await client.call(
        "search_policy", {"query": "cycling", "sources": ["NPF"], "effective_date": "2025-01-01"}
    )
    early = await client.call("search_policy", {"query": "cycling", "effective_date": "2001-01-01"})
    missing = await client.call("search_policy", {"query": "cycling", "effective_date": "2026-09-01"})
    good = await client.call("search_policy", {"query": "cycling", "effective_date": "2025-01-01"})

    assert (unknown["results_count"], early["results_count"]) == (0, 0)
    assert "no policy 'NPF'" in unknown["warnings"][0]
    assert "NPPF" in unknown["warnings"][0]
    assert "before its first loaded revision" in early["warnings"][0]
    assert missing["results_count"] > 0
    assert "August 2026, in force since 2026-08-17, is known and not loaded" in missing["warnings"][0]
    assert "warnings" not in good


async def test_provisions_come_with_their_sections_and_what_is_missing_for_the_place(client: ToolClient) -> None:
    answer = await client.call(
        "get_provisions",
        {
            "effective_date": "2025-06-01",
            "authority": "tower-hamlets",
            "provision_ids": ["priority_walking_cycling", "local_sustainable_modes"],
        },
    )

    (placed,) = answer["provisions"]
    assert (placed["section_ref"], placed["state"], placed["revision_id"]) == ("Para 117", "found", "rev_NPPF_2024_12")
    assert "priority first" in placed["excerpt"]
    assert [u["provision_id"] for u in answer["unavailable"]] == ["local_sustainable_modes"]
    assert "not_loaded" not in answer
    later = await client.call("get_provisions", {"effective_date": "2026-09-01", "provision_ids": ["travel_plan"]})
    assert "August 2026" in later["not_loaded"][0]
    assert "No local plan of tower-hamlets is loaded" in answer["warnings"][0]
    assert (await failure(client, "get_provisions", {"authority": "Tower Hamlets"}))["error_type"] == "validation_error"


async def test_no_local_policy_answers_for_a_site_whose_authority_is_not_known(client: ToolClient) -> None:
    wanted = {"effective_date": "2025-06-01", "provision_ids": ["priority_walking_cycling", "local_sustainable_modes"]}
    anywhere = await client.call("get_provisions", wanted)
    unknown = await client.call("get_provisions", {**wanted, "authority": "unknown"})
    assert {one["source"] for one in anywhere["provisions"]} >= {"NPPF"}
    assert {one["source"] for one in unknown["provisions"]} == {"NPPF"}
    assert unknown["local_policies"] == []
    assert "The planning authority of the site is not known" in unknown["warnings"][0]
    found = await client.call(
        "search_policy", {"query": "walking and cycling", "effective_date": "2025-06-01", "authority": "unknown"}
    )
    assert {one["source"] for one in found["results"]} <= {"NPPF", "LTN_1_20", "MANUAL_FOR_STREETS"}


async def test_an_ingested_revision_is_overwritten_only_with_reindex_and_only_by_a_pdf(
    client: ToolClient, settings: Settings
) -> None:
    path = settings.data_dir / "other.pdf"
    write_atomic(path, digest_pdf(read_digest("LTN_1_20_2020_07.md")))
    text = settings.data_dir / "notes.pdf"
    text.write_text("not a PDF")
    args = {"source": "NPPF", "revision_id": "rev_NPPF_2024_12", "file_path": str(path)}
    before = (await client.call("list_policy_revisions", {"source": "NPPF"}))["revisions"][0]["chunk_count"]

    refused = await failure(client, "ingest_policy_revision", args)
    not_pdf = await failure(client, "ingest_policy_revision", {**args, "file_path": str(text), "reindex": True})
    answer = await client.call("ingest_policy_revision", {**args, "reindex": True})
    after = (await client.call("list_policy_revisions", {"source": "NPPF"}))["revisions"][0]["chunk_count"]

    assert refused["error_type"] == "revision_already_ingested"
    assert not_pdf["error_type"] == "unsupported_file_type"
    assert after == answer["chunks_created"] != before


async def test_a_new_label_is_shown_at_once_by_every_tool(client: ToolClient, clean_redis_url: str) -> None:
    redis = redis_client(clean_redis_url)
    await PolicyRegistry(redis).update_revision("NPPF", "rev_NPPF_2024_12", {"version_label": "The new label"})
    await redis.aclose()

    found = await client.call("search_policy", {"query": "travel plan", "effective_date": "2025-06-01"})
    section = await client.call("get_policy_section", {"source": "NPPF", "section_ref": "Para 118"})
    listed = await client.call("list_policy_revisions", {"source": "NPPF"})

    assert {result["version_label"] for result in found["results"]} == {"The new label"}
    assert section["version_label"] == listed["revisions"][0]["version_label"] == "The new label"
