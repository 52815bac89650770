"""The MCP bridge over real HTTP, on both transports: six tools and one more, errors as the contract's object, no writes."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from sqlalchemy import select

from trigpoint.api.routes.graph import graph_app
from trigpoint.config import Settings, load_settings
from trigpoint.errors import ConfigurationError, ServerUnreachable, ToolFailed
from trigpoint.graph.tables import metadata
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.graph import server

DEFAULT = "00000000-0000-4000-a000-000000000001"
MISSING = "9b2c1f7e-0000-4000-8000-000000000000"
CONTRACT = {
    "list_projects",
    "search_entities",
    "get_entity",
    "get_entity_graph",
    "list_search_performance",
    "list_quotable_blocks",
}


@contextmanager
def serving(app: Any, port: int) -> Iterator[str]:
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    running.should_exit = True
    thread.join(10)


@pytest.fixture
def bridge(graph_settings: Settings, free_port: Callable[[], int]) -> Iterator[Callable[..., str]]:
    """Starts the backend and the bridge with further settings; gives the bridge's URL."""
    with ExitStack() as stack:

        def start(**more: Any) -> str:
            base = graph_settings.model_dump(exclude_unset=True)
            backend = stack.enter_context(serving(graph_app(load_settings(**(base | more))), free_port()))
            settings = load_settings(**(base | more | {"trigpoint_graph_url": backend}))
            return stack.enter_context(serving(server(settings).app(), free_port()))

        yield start


async def fails(client: ToolClient, tool: str, args: dict[str, Any], code: str) -> str:
    with pytest.raises(ToolFailed) as caught:
        await client.call(tool, args)
    assert caught.value.code == code
    return caught.value.message


async def test_the_tools_are_those_of_the_contract_and_all_of_them_only_read(settings: Settings):
    tools = server(settings).descriptions
    assert {tool.name for tool in tools} == CONTRACT | {"compare_search_performance"}
    for tool in tools:
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.output_schema
        assert ("projectId" in tool.input_schema.get("required", ())) is (tool.name != "list_projects")


async def test_bounds_and_defaults_of_numbers_are_in_the_schema(settings: Settings):
    schemas = {tool.name: tool.input_schema["properties"] for tool in server(settings).descriptions}
    for properties in schemas.values():
        if "page" in properties:
            assert _bounds(properties["page"]) == {"type": "integer", "default": 1, "minimum": 1}
            assert _bounds(properties["limit"]) == {"type": "integer", "default": 20, "minimum": 1, "maximum": 100}
    assert _bounds(schemas["get_entity_graph"]["depth"]) == {
        "type": "integer",
        "default": 1,
        "minimum": 1,
        "maximum": 2,
    }


def _bounds(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


async def test_each_tool_gives_the_backends_answer(api, bridge):
    guide, concept = api.entity("a-guide"), api.entity("a-concept", kind="concept")
    edge = api.relation("GUIDE_USES_CONCEPT", guide, concept)
    api.post("/api/quotable-blocks", {"entityId": guide, "text": "Short.", "claimType": "definition"})
    row = {
        "query": "lanes",
        "pageUrl": "https://x.test/a",
        "impressions": 10,
        "clicks": 1,
        "ctr": 0.1,
        "avgPosition": 3.5,
    }
    rows = [row | {"dateStart": d, "dateEnd": d} for d in ("2025-01-01", "2025-02-01")]
    api.post("/api/seo/search-performance/ingest", {"rows": rows})
    scope = {"projectId": DEFAULT.upper()}
    async with ToolClient(bridge()) as client:
        assert await client.call("list_projects", {}) == api.get("/api/projects")
        assert await client.call("search_entities", scope | {"limit": 1}) == api.get("/api/entities?limit=1")
        assert await client.call("get_entity", scope | {"entityId": guide.upper()}) == api.get(f"/api/entities/{guide}")
        graph = await client.call("get_entity_graph", scope | {"entityId": guide, "depth": 2})
        assert graph == api.get(f"/api/entities/{guide}/graph?depth=2")
        assert [e["id"] for e in graph["data"]["relationships"]] == [edge]
        assert await client.call("list_search_performance", scope | {"query": "LANE"}) == api.get(
            "/api/seo/search-performance"
        )
        assert await client.call("list_quotable_blocks", scope) == api.get("/api/quotable-blocks")
        periods = {
            "firstStart": "2025-01-01",
            "firstEnd": "2025-01-31",
            "secondStart": "2025-02-01",
            "secondEnd": "2025-02-28",
        }
        compared = (await client.call("compare_search_performance", scope | periods))["data"]
        assert compared["label"] == "of stored rows"
        assert compared["change"]["clicks"] == 0
        cursor = (await client.call("search_entities", scope | {"limit": 1}))["pagination"]["nextCursor"]
        rest = await client.call("search_entities", scope | {"limit": 1, "cursor": cursor, "fields": "slug"})
        assert rest["data"] == [{"slug": "a-guide"}]
        message = await fails(client, "search_entities", scope | {"page": 1, "cursor": cursor}, "BAD_REQUEST")
        assert message == "Give either page or cursor, not both"


async def test_errors_reach_the_model_as_the_contracts_object(api, bridge):
    foreign = api.entity("theirs", project=api.project("other"))
    scope = {"projectId": DEFAULT}
    async with ToolClient(bridge()) as client:
        assert await fails(client, "get_entity", scope | {"entityId": foreign}, "NOT_FOUND") == "Entity not found"
        assert await fails(client, "get_entity", scope | {"entityId": MISSING}, "NOT_FOUND") == "Entity not found"
        await fails(client, "get_entity_graph", scope | {"entityId": foreign}, "NOT_FOUND")
        for tool in ("search_entities", "list_search_performance", "list_quotable_blocks"):
            assert await fails(client, tool, {"projectId": MISSING}, "NOT_FOUND") == "Project not found"
            await fails(client, tool, {"projectId": "nonsense"}, "BAD_REQUEST")
            await fails(client, tool, {}, "BAD_REQUEST")
            await fails(client, tool, scope | {"limit": 101}, "BAD_REQUEST")
            await fails(client, tool, scope | {"page": 0}, "BAD_REQUEST")
        assert "guide" in await fails(client, "search_entities", scope | {"entityType": "book"}, "BAD_REQUEST")
        await fails(client, "get_entity", scope | {"entityId": "../projects"}, "BAD_REQUEST")
        message = await fails(
            client, "get_entity_graph", scope | {"entityId": foreign, "relationshipTypes": "LIKES"}, "BAD_REQUEST"
        )
        assert "GUIDE_USES_CONCEPT" in message
        await fails(client, "list_search_performance", scope | {"dateStart": "2025-02-30"}, "BAD_REQUEST")
        await fails(client, "create_entity", scope, "BAD_REQUEST")
        for depth in (0, 3, True, "1", 1.5):
            await fails(client, "get_entity_graph", scope | {"entityId": foreign, "depth": depth}, "BAD_REQUEST")


@pytest.mark.parametrize(
    ("tool", "name", "text"),
    [
        ("search_entities", "search", "日" * 8000),
        ("search_entities", "search", "x" * 66_000),
        ("list_search_performance", "query", "q" * 70_000),
        ("list_quotable_blocks", "topicTag", "q" * 1_000_000),
        ("list_projects", "cursor", "q" * 70_000),
        ("list_projects", "fields", "q" * 70_000),
    ],
)
async def test_a_text_too_long_for_a_url_is_a_bad_request_that_names_it(bridge, tool, name, text):
    scope = {} if tool == "list_projects" else {"projectId": DEFAULT}
    async with ToolClient(bridge()) as client:
        message = await fails(client, tool, scope | {name: text}, "BAD_REQUEST")
    assert f"Shorten '{name}'" in message


async def test_a_long_text_that_fits_is_searched_for(bridge):
    async with ToolClient(bridge()) as client:
        answer = await client.call("search_entities", {"projectId": DEFAULT, "search": "日" * 3500})
    assert answer["data"] == []


async def test_a_pinned_server_knows_one_project_only(api, bridge):
    mine = api.project("mine")
    made = api.entity("thing", project=mine)
    async with ToolClient(bridge(trigpoint_graph_project=mine.upper())) as client:
        assert [p["id"] for p in (await client.call("list_projects", {}))["data"]] == [mine]
        assert [e["id"] for e in (await client.call("search_entities", {}))["data"]] == [made]
        assert (await client.call("get_entity", {"projectId": mine, "entityId": made}))["data"]["id"] == made
        assert await fails(client, "search_entities", {"projectId": DEFAULT}, "NOT_FOUND") == "Project not found"


async def test_the_callers_token_is_passed_on(api, bridge):
    url = bridge(api_keys=("reader",), graph_write_keys=("writer",))
    async with ToolClient(url) as client:
        await fails(client, "list_projects", {}, "UNAUTHORIZED")
    async with ToolClient(url, "nobody") as client:
        await fails(client, "list_projects", {}, "UNAUTHORIZED")
    async with ToolClient(url, "reader") as client:
        assert (await client.call("list_projects", {}))["data"]


async def test_with_mcp_auth_on_the_same_token_opens_both_doors(api, bridge):
    url = bridge(api_keys=("reader",), mcp_api_key="bridge-key")
    async with ToolClient(url, "bridge-key") as client:
        assert (await client.call("list_projects", {}))["data"]
    with pytest.raises(ServerUnreachable):
        async with ToolClient(url, "reader") as client:
            await client.call("list_projects", {})


def test_a_refused_token_is_named_by_the_contracts_code(bridge):
    url = bridge(mcp_api_key="bridge-key")
    for headers in ({}, {"authorization": "Basic x"}, {"authorization": "Bearer wrong"}):
        answer = httpx.post(f"{url}/mcp", json={}, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "UNAUTHORIZED"


async def test_a_token_beyond_ascii_reaches_the_backend_as_it_came(api, bridge):
    async with ToolClient(bridge(api_keys=("restkey",), mcp_api_key="schlüssel-鍵"), "schlüssel-鍵") as client:
        assert (await client.call("list_projects", {}))["data"]
    async with ToolClient(bridge(api_keys=("clé",)), "clé") as client:
        assert (await client.call("list_projects", {}))["data"]
    async with ToolClient(bridge(api_keys=("restkey",)), "clé") as client:
        await fails(client, "list_projects", {}, "UNAUTHORIZED")


def test_a_pinned_project_that_is_no_uuid_stops_the_start_and_is_named():
    with pytest.raises(ConfigurationError, match="TRIGPOINT_GRAPH_PROJECT=foo: must be the UUID"):
        server(load_settings(trigpoint_graph_project="foo"))


async def test_a_dead_backend_is_named(settings: Settings, free_port: Callable[[], int]):
    dead = f"http://127.0.0.1:{free_port()}"
    app = server(settings.model_copy(update={"trigpoint_graph_url": dead})).app()
    with serving(app, free_port()) as url:
        async with ToolClient(url) as client:
            message = await fails(client, "list_projects", {}, "SERVER_ERROR")
    assert dead in message
    assert "TRIGPOINT_GRAPH_URL" in message


async def test_no_argument_of_any_tool_can_write(api, bridge, store):
    """Whatever is called with whatever it takes, the event log and the tables stay as they were."""
    made = api.entity("thing")
    before = _everything(store)
    hostile = {"projectId": DEFAULT, "entityId": made, "search": "'; DELETE FROM entity; --", "fields": "id"}
    async with ToolClient(bridge()) as client:
        for tool in server(load_settings()).descriptions:
            names = tool.input_schema["properties"]
            args = {k: v for k, v in hostile.items() if k in names}
            for extra in ({}, {"_method": "DELETE"}, {"cursor": "x"}, {"entityId": f"{made}/archive"}):
                try:
                    await client.call(tool.name, args | extra)
                except ToolFailed as error:
                    assert error.code in ("BAD_REQUEST", "NOT_FOUND")
    assert _everything(store) == before


def _everything(store: Any) -> dict[str, list[Any]]:
    with store.snapshot() as connection:
        return {t.name: sorted(map(repr, connection.execute(select(t)))) for t in metadata.sorted_tables}


async def test_a_default_page_of_the_longest_texts_fits_a_models_context(api, bridge):
    """At four bytes a token, 25,000 tokens are 100,000 bytes of JSON text."""
    for n in range(20):
        made = api.entity(
            f"{n:03d}-" + "s" * 190,
            kind="project",
            title="t" * 600,
            summary="s" * 2000,
            repoUrl="https://x.test/" + "r" * 900,
            canonicalUrl="https://x.test/" + "c" * 900,
        )
        api.post(
            "/api/quotable-blocks",
            {
                "entityId": made,
                "text": "w " * 999,
                "claimType": "statistic",
                "sourceCitation": "c" * 1000,
                "topicTag": "t" * 200,
            },
        )
    async with ToolClient(bridge()) as client:
        for tool in ("search_entities", "list_quotable_blocks"):
            answer = await client.call(tool, {"projectId": DEFAULT})
            assert len(answer["data"]) == 20
            assert len(json.dumps(answer)) / 4 < 25_000


@pytest.mark.parametrize("key", ["reader", "clé-鍵"])
async def test_stdio_works_and_uses_its_own_key(tmp_path, free_port, key):
    backend_settings = load_settings(trigpoint_data_dir=tmp_path, api_keys=(key,))
    with serving(graph_app(backend_settings), free_port()) as url:
        env = dict(os.environ, TRIGPOINT_GRAPH_URL=url, API_KEYS=key)
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "trigpoint.cli.main", "mcp", "graph"], env=env
        )
        async with Client(stdio_client(parameters)) as client:
            result = await client.call_tool("list_projects", {})
    assert result.structured_content["data"][0]["id"] == DEFAULT
