"""`/docs` and `/redoc`: the reference as one self-contained page, written from our own OpenAPI document.

The page is plain HTML; the one script and the one style on it are named by their hashes in the content policy.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import orjson
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse

from trigpoint.api.schemas.events import EVENT_MODELS

AT = "/api/v1"  # the path at which the REST API is mounted
_METHODS = ("get", "post", "patch", "put", "delete")
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": "Anything unique: the same request with the same key, sent again within a day, gets the first answer",
}


def add_documentation(app: FastAPI) -> None:
    document_webhooks(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    app.add_route("/docs", _docs, include_in_schema=False)
    app.add_route("/redoc", _reference, include_in_schema=False)


def _described(app: FastAPI) -> dict[str, Any]:
    """Return FastAPI's document, and what it cannot know: the bearer key and the headers of every answer."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        document["paths"] = {f"{AT}{path}": item for path, item in document["paths"].items()}
        document["components"].setdefault("securitySchemes", {})["bearer"] = {"type": "http", "scheme": "bearer"}
        document["security"] = [{"bearer": []}]
        document["components"]["headers"] = {
            "X-API-Version": {"schema": {"type": "string"}, "description": "API version"},
            "X-Request-ID": {"schema": {"type": "string"}, "description": "Echoed or generated"},
            "X-RateLimit-Limit": {"schema": {"type": "integer"}, "description": "Requests per window (auth on)"},
            "X-RateLimit-Remaining": {"schema": {"type": "integer"}, "description": "Left in this window (auth on)"},
            "X-RateLimit-Reset": {"schema": {"type": "integer"}, "description": "When the window resets (auth on)"},
        }
        schemas = document["components"]["schemas"]
        schemas["Metadata"]["properties"]["options"] = {
            "$ref": "#/components/schemas/ReviewOptions"
        }  # kept as plain data
        for _, method, operation in _operations(document):
            if method == "post":
                operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
            for answer in operation["responses"].values():
                names = document["components"]["headers"]
                answer["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        for schema in schemas.values():
            _mark_files(schema)
        for sent in document.get("webhooks", {}).values():
            sent["post"]["responses"] = {"2XX": {"description": "Accepted. Any other answer is tried again"}}
        for unused in ("HTTPValidationError", "ValidationError"):  # the framework's own, which we never answer with
            schemas.pop(unused, None)
        app.openapi_schema = document
    return app.openapi_schema


def _mark_files(schema: dict[str, Any]) -> None:
    """Mark files by `format: binary`, which client generators need; the framework writes `contentMediaType` only."""
    for field in schema.get("properties", {}).values():
        for part in (field, field.get("items", {})):
            if part.get("contentMediaType") == "application/octet-stream":
                part["format"] = "binary"


def document_webhooks(app: FastAPI) -> None:
    """List the events under `webhooks`, each with its body."""
    for name, model in EVENT_MODELS.items():

        async def receive(body: Any) -> None:
            """Sent to the address that a review or `WEBHOOK_URL` names; answer with any 2xx status."""

        receive.__annotations__["body"] = model
        receive.__name__ = name.replace(".", "_")
        app.webhooks.post(name, tags=["Webhooks"], operation_id=receive.__name__)(receive)


async def _docs(request: Request) -> HTMLResponse:
    return _page(request.app, can_try=True)


async def _reference(request: Request) -> HTMLResponse:
    return _page(request.app, can_try=False)


def _page(app: FastAPI, *, can_try: bool) -> HTMLResponse:
    style, script = _asset("docs.css"), _asset("docs.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    return HTMLResponse(_html(app.openapi(), style, script, can_try=can_try), headers=headers)


def _html(document: dict[str, Any], style: str, script: str, *, can_try: bool) -> str:
    info = document["info"]
    groups: dict[str, list[str]] = {}
    for path, method, operation in _operations(document):
        tag = (operation.get("tags") or ["Other"])[0]
        groups.setdefault(tag, []).append(_operation(path, method, operation, can_try=can_try))
    contents = "".join(f'<li><a href="#{_anchor(tag)}">{escape(tag)}</a></li>' for tag in groups)
    sections = "".join(
        f'<section id="{_anchor(tag)}"><h2>{escape(tag)}</h2>{"".join(shown)}</section>'
        for tag, shown in groups.items()
    )
    schemas = "".join(
        f'<details id="schema-{escape(name)}"><summary>{escape(name)}</summary>{_json(schema)}</details>'
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    key = '<label>API key <input id="key" type="password" autocomplete="off"></label>' if can_try else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])} API</title><style>{style}</style></head><body>"
        f"<header><h1>{escape(info['title'])} API <small>{escape(info['version'])}</small></h1>"
        f'<p>{escape(info["description"])}</p><p><a href="/openapi.json">openapi.json</a></p>{key}'
        f"<nav aria-label='Contents'><ul>{contents}<li><a href='#schemas'>Schemas</a></li></ul></nav></header>"
        f"<main>{sections}<section id='schemas'><h2>Schemas</h2>{schemas}</section></main>"
        f"<script>{script}</script></body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any], *, can_try: bool) -> str:
    parameters = "".join(
        f"<tr><th scope='row'><code>{escape(p['name'])}</code></th><td>{escape(p['in'])}"
        f"{', required' if p.get('required') else ''}</td><td>{escape(p.get('description', ''))} "
        f"{_json(p.get('schema', {}))}</td></tr>"
        for p in operation.get("parameters", ())
    )
    body = "".join(
        f"<h4>Body: {escape(kind)}</h4>{_json(content.get('schema', {}))}"
        for kind, content in operation.get("requestBody", {}).get("content", {}).items()
    )
    answers = "".join(
        f"<tr><th scope='row'>{escape(status)}</th><td>{escape(answer.get('description', ''))}</td>"
        f"<td>{_contents(answer)}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return (
        f"<details class='operation'><summary><span class='{method}'>{method.upper()}</span> "
        f"<code>{escape(path)}</code> {escape(operation.get('summary', ''))}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p>"
        + (f"<h4>Parameters</h4><table>{parameters}</table>" if parameters else "")
        + body
        + f"<h4>Answers</h4><table>{answers}</table>"
        + (_try_it(path, method, operation) if can_try else "")
        + "</details>"
    )


def _contents(answer: dict[str, Any]) -> str:
    return "".join(f"{escape(kind)} {_json(c.get('schema', {}))}" for kind, c in answer.get("content", {}).items())


def _try_it(path: str, method: str, operation: dict[str, Any]) -> str:
    fields = "".join(
        f"<label>{escape(p['name'])} <input name='{escape(p['name'])}' data-in='{escape(p['in'])}'></label>"
        for p in operation.get("parameters", ())
    )
    kinds = operation.get("requestBody", {}).get("content", {})
    if "application/json" in kinds:
        fields += "<label>Body (JSON) <textarea name='body' rows='6'></textarea></label>"
    elif kinds:
        fields += "<p>Files are sent with a client such as curl.</p>"
    return (
        f"<form data-method='{method.upper()}' data-path='{escape(path)}'><h4>Try it</h4>{fields}"
        "<button type='submit'>Send</button><pre aria-live='polite'></pre></form>"
    )


def _operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, m, item[m]) for path, item in document["paths"].items() for m in _METHODS if m in item]


def _json(schema: dict[str, Any]) -> str:
    text = orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()
    return f"<pre>{escape(text)}</pre>" if len(text) > 60 else f"<code>{escape(' '.join(text.split()))}</code>"


def _anchor(tag: str) -> str:
    return "tag-" + "".join(c if c.isalnum() else "-" for c in tag.lower())


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
