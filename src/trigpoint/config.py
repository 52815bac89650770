"""Settings: every environment variable that Trigpoint reads, with its default and its meaning.

The field's name in upper case is the variable. `load_settings` is the one way in; a wrong value stops the
start with a message that names the variable, the value and what is valid. `docs/reference/settings.md` is
generated from this class.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from trigpoint import __version__
from trigpoint.errors import ConfigurationError, shorten
from trigpoint.keys import KeyRing

Port = Annotated[int, Field(ge=0, le=65535)]
Words = Annotated[tuple[str, ...], NoDecode]
Paths = Annotated[tuple[Path, ...], NoDecode]

_URL_SCHEMES = {
    "redis_url": ("redis", "rediss", "unix"),
    "chroma_url": ("http", "https"),
    "database_url": ("postgresql", "postgresql+psycopg", "sqlite"),
    "qdrant_url": ("http", "https"),
    "cherwell_scraper_url": ("http", "https"),
    "document_store_url": ("http", "https"),
    "policy_kb_url": ("http", "https"),
    "trigpoint_graph_url": ("http", "https"),
    "cherwell_portal_url": ("http", "https"),
    "webhook_url": ("http", "https"),
}


class Settings(BaseSettings):
    """All settings. An empty variable counts as not set."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True, validate_default=False)

    # Locations
    trigpoint_data_dir: Path | None = Field(
        None,
        description="Data folder. Default: `/data` if it exists and can be written, else `~/.local/share/trigpoint`.",
    )
    chroma_persist_dir: Path | None = Field(
        None, description="Folder of the embedded vector stores. Default: `chroma` below the data folder."
    )
    trigpoint_config: Path | None = Field(
        None,
        description="TOML file with the library's projects. Default: `trigpoint.toml` in the working folder, if there is one.",
    )
    embedding_model_path: Path | None = Field(
        None,
        description="Folder with `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2. Default: the installed model package.",
    )
    reranker_model_path: Path | None = Field(
        None,
        description="Folder with `model.onnx` and `tokenizer.json` of a cross-encoder that reads the best passages of a hybrid search again and orders them. Default: none.",
    )
    document_roots: Paths = Field(
        (), description="Folders (comma-separated) from which documents may be ingested, as well as the data folder."
    )

    disk_low_mb: int = Field(
        500, ge=0, description="Free MB in the data folder below which new work is refused and health is `degraded`."
    )
    disk_critical_mb: int = Field(
        100, ge=0, description="Free MB in the data folder below which running work pauses until there is space again."
    )

    # Stores by URL
    redis_url: str | None = Field(
        None, description="Redis or Valkey server. Default: an embedded Valkey in the data folder."
    )
    chroma_url: str | None = Field(None, description="Chroma server. Default: embedded, one folder per store.")
    database_url: str | None = Field(None, description="PostgreSQL for the graph. Default: SQLite in the data folder.")
    qdrant_url: str | None = Field(None, description="Qdrant for the library. Default: SQLite in the data folder.")
    qdrant_api_key: SecretStr | None = Field(None, description="Key for that Qdrant, if it needs one.")
    zotero_api_key: SecretStr | None = Field(None, description="Key for a library on zotero.org that is not public.")

    # Servers
    environment: Literal["development", "production"] = Field(
        "development", description="`production` requires https webhooks to public addresses."
    )
    host: str | None = Field(
        None, description="Address to bind. Default: `127.0.0.1` with auth off, `0.0.0.0` with auth on."
    )
    api_port: Port = Field(8080, description="REST API and pages.")
    cherwell_scraper_port: Port = Field(3001, description="Scraper MCP server.")
    document_store_port: Port = Field(3002, description="Document store MCP server.")
    policy_kb_port: Port = Field(3003, description="Policy knowledge base MCP server.")
    library_port: Port = Field(3004, description="Library MCP server.")
    graph_port: Port = Field(3005, description="Graph MCP server.")
    reviewer_port: Port = Field(3006, description="Reviewer MCP server: reviews judged by your own agent.")
    cherwell_scraper_url: str | None = Field(
        None, description="Where the scraper is. Default: this machine and its port."
    )
    document_store_url: str | None = Field(
        None, description="Where the document store is. Default: this machine and its port."
    )
    policy_kb_url: str | None = Field(
        None, description="Where the policy server is. Default: this machine and its port."
    )
    trigpoint_graph_url: str | None = Field(
        None, description="Where the graph's backend is. Default: this machine and the API's port."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Lowest level that is logged.")
    log_format: Literal["text", "json"] = Field("text", description="`json`: one object per line.")

    # Who may call
    api_keys: Words = Field(
        (),
        description="Keys of the REST API, comma-separated. Auth is off if neither this nor `API_KEYS_FILE` is set.",
        repr=False,
    )
    api_keys_file: Path | None = Field(
        None,
        description='JSON file of keys: `["k1"]`, or `{"keys": [{"name": "dashboard", "key": "k1", "scopes": ["read"], '
        '"expires": "2027-12-31"}]}`. Read again when it changes. Keys from `API_KEYS` remain valid.',
    )
    api_rate_limit: int = Field(60, ge=1, description="Requests per 60 seconds and key.")
    graph_write_keys: Words = Field(
        (), description="Keys that may write to the graph when auth is on, comma-separated.", repr=False
    )
    mcp_api_key: SecretStr | None = Field(None, description="Bearer token of the MCP servers. Unset: auth off.")
    mcp_allowed_hosts: Words = Field(
        (),
        description="Host names (comma-separated) that MCP servers, and the API on loopback without auth, answer to, in addition to loopback and `HOST`. `*`: any.",
    )
    cors_origins: Words = Field(
        (),
        description="Sites (comma-separated, such as `https://example.org`) whose pages may call the REST API. Default: none.",
    )
    max_upload_mb: int = Field(50, ge=1, le=2048, description="Largest policy PDF that can be uploaded.")

    policy_set: Literal["default", "current"] = Field(
        "default",
        description="Which shipped revisions are loaded at the first start: `default`: seven. `current`: also those that were missing or came later.",
    )
    max_application_mb: int = Field(
        500, ge=1, le=8192, description="Largest set of documents that can be submitted for a review at once."
    )

    # Text
    enable_ocr: bool = Field(True, description="Read pages without a text layer with Tesseract.")
    image_ratio_threshold: float = Field(
        0.7, ge=0, le=1, description="Average image ratio above which a document counts as image-based."
    )
    image_ratio_strict: bool = Field(False, description="Skip image-based documents even when they are scans of text.")
    page_timeout_seconds: float = Field(120, gt=0, description="Longest time that one page may take to read.")
    text_workers: int = Field(
        0, ge=0, le=64, description="Processes that read and OCR pages. 0: as many as there are cores."
    )

    # Planning registers
    cherwell_portal_url: str = Field(
        "https://planningregister.cherwell.gov.uk",
        description="Address of Cherwell's planning register, the default one.",
    )
    registers_file: Path | None = Field(
        None,
        description="TOML file with further planning registers, in the form of the shipped `registers.toml`; a row replaces a shipped one of the same authority.",
    )
    scraper_rate_limit: float = Field(1.0, ge=0, description="Seconds between requests to the register.")
    scraper_timeout: float = Field(
        30,
        gt=0,
        description="Seconds within which a page of the register must be complete; a document has twenty times that.",
    )
    scraper_user_agent: str = Field(
        f"Trigpoint/{__version__} (planning evidence; polite)", description="The `User-Agent` that the scraper sends."
    )

    downloads_kept_days: int | None = Field(
        None,
        ge=1,
        description="Days that documents from registers and submitted files are kept after they were last used. Unset: forever.",
    )

    watch_every_hours: float | None = Field(
        None,
        ge=6,
        description="Hours between the worker's checks of the watched registers (`trigpoint watch`), at least 6. Unset: only when somebody asks.",
    )

    # Jobs, reviews, webhooks
    worker_concurrency: int = Field(2, ge=1, le=64, description="Jobs that one worker runs at once.")
    job_lease_seconds: int = Field(
        30, ge=2, description="A job whose worker has been silent for this long is given to another."
    )
    review_result_ttl_days: int | None = Field(
        None, ge=1, description="Days that finished reviews are kept. Unset: forever."
    )
    webhook_max_retries: int = Field(
        12,
        ge=0,
        le=50,
        description="Tries after the first failed delivery: after 1, 2, 4, 8, 16 s, 1, 5, 15 min, then 1, 3, 6, 12 h.",
    )
    webhook_url: str | None = Field(
        None, description="Where the events of all reviews are sent, in addition to the webhooks of single reviews."
    )
    webhook_secret: SecretStr | None = Field(None, description="Secret that signs what is sent to `WEBHOOK_URL`.")
    webhook_events: Words = Field(
        (),
        description="Events (comma-separated) that are sent to `WEBHOOK_URL`. Default: started, progress, completed, failed.",
    )
    trigpoint_model: str | None = Field(
        None,
        description="Model of the `llm` analyser, for example `anthropic:claude-sonnet-5-5`; `replay:FILE` answers from a "
        "transcript. Unset: rules only.",
    )
    review_max_tokens: int = Field(600_000, ge=1000, description="Tokens that one review may use.")
    review_max_cost: float | None = Field(
        None, gt=0, description="Money that one review may cost, in the currency of the two prices. Needs both prices."
    )
    review_price_input: float | None = Field(
        None, ge=0, description="Price of a million input tokens, to tell what a review costs."
    )
    review_price_output: float | None = Field(None, ge=0, description="Price of a million output tokens.")
    review_time_budget_seconds: float = Field(1800, gt=0, description="Time that the model may take for one review.")
    review_model_concurrency: int = Field(
        3, ge=1, le=20, description="Calls to the model at the same time, per review."
    )
    review_call_timeout_seconds: float = Field(300, gt=0, description="Time that one call to the model may take.")
    review_fallback: bool = Field(
        False, description="If the model fails before it has judged anything, write a brief by rules, and say so."
    )

    review_agent_hours: float = Field(
        24,
        gt=0,
        description="Hours without a call after which a review that is led by somebody's own agent ends as failed.",
    )
    review_transcripts: bool = Field(
        False, description="Keep a transcript of every call to the model, in `transcripts` below the data folder."
    )

    # The graph
    trigpoint_graph_project: str | None = Field(None, description="Pin the graph's MCP server to this project (UUID).")
    graph_max_edges: int = Field(200, ge=1, le=5000, description="Most relationships in one graph answer.")
    graph_max_nodes: int = Field(100, ge=1, le=5000, description="Most entities in one graph answer.")

    @field_validator(
        "api_keys",
        "graph_write_keys",
        "mcp_allowed_hosts",
        "document_roots",
        "webhook_events",
        "cors_origins",
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        parts = tuple(part.strip() for part in value.split(",") if part.strip())
        if not parts and value:  # blanks or commas alone: a slip must not switch auth off
            raise ValueError("expected values separated by commas, and found none")
        return parts

    @field_validator(*_URL_SCHEMES, mode="after")
    @classmethod
    def _check_url(cls, value: str | None, info: Any) -> str | None:
        if value is None:
            return None
        schemes = _URL_SCHEMES[info.field_name]
        if urlsplit(value).scheme not in schemes:
            raise ValueError("expected a URL with " + " or ".join(f"{s}://" for s in schemes))
        return value.rstrip("/")

    @field_validator("cors_origins")
    @classmethod
    def _check_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
                raise ValueError(
                    f"'{shorten(origin)}' is not an origin. Expected a scheme and a host: https://example.org"
                )
        return origins

    @model_validator(mode="after")
    def _check_webhook(self) -> Settings:
        if self.webhook_url and not self.webhook_secret:
            raise ValueError("WEBHOOK_URL needs WEBHOOK_SECRET: unsigned events could come from anybody")
        if self.webhook_url and self.environment == "production" and urlsplit(self.webhook_url).scheme != "https":
            raise ValueError("WEBHOOK_URL must be an https:// address in production")
        return self

    @cached_property
    def data_dir(self) -> Path:
        """The data folder: set, `/data` or the user's own.

        It is not created here, but by whoever first writes to it.
        """
        if self.trigpoint_data_dir is not None:
            return self.trigpoint_data_dir.expanduser().absolute()
        shared = Path("/data")
        if shared.is_dir() and os.access(shared, os.W_OK):
            return shared
        return Path.home() / ".local" / "share" / "trigpoint"

    def chroma_dir(self, store: Literal["documents", "policies"]) -> Path:
        """Return the folder of a store below `CHROMA_PERSIST_DIR`.

        Each has its own, since only one server may open it.
        """
        return (self.chroma_persist_dir or self.data_dir / "chroma").expanduser().absolute() / store

    @cached_property
    def key_ring(self) -> KeyRing:
        """The keys of `API_KEYS` and `API_KEYS_FILE` together. Raises ConfigurationError on a bad file."""
        return KeyRing(self.api_keys, self.api_keys_file)

    @property
    def rest_auth_on(self) -> bool:
        return self.key_ring.required

    @property
    def mcp_auth_on(self) -> bool:
        return self.mcp_token is not None

    @property
    def mcp_token(self) -> str | None:
        """`MCP_API_KEY` in the clear, to be sent or checked; None if authentication is off."""
        return (self.mcp_api_key.get_secret_value().strip() or None) if self.mcp_api_key else None

    def bind_host(self, *, auth_on: bool) -> str:
        """Return the address to bind to: loopback unless authentication is on or `HOST` says otherwise."""
        return self.host or ("0.0.0.0" if auth_on else "127.0.0.1")

    def server_url(self, name: Literal["scraper", "document-store", "policy-kb", "graph"]) -> str:
        """Return the URL at which our other servers reach the one of this name."""
        configured, port = {
            "scraper": (self.cherwell_scraper_url, self.cherwell_scraper_port),
            "document-store": (self.document_store_url, self.document_store_port),
            "policy-kb": (self.policy_kb_url, self.policy_kb_port),
            "graph": (self.trigpoint_graph_url, self.api_port),
        }[name]
        return configured or f"http://127.0.0.1:{port}"


def load_settings(**overrides: Any) -> Settings:
    """Return the settings from the environment, with overrides on top. Raises ConfigurationError."""
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        raise ConfigurationError("\n".join(_explain_problem(problem) for problem in error.errors())) from None
    settings.key_ring  # noqa: B018  a malformed keys file stops the start, it never disables auth
    return settings


def _explain_problem(problem: Any) -> str:
    if not problem["loc"]:
        return str(problem["msg"].removeprefix("Value error, "))
    name = str(problem["loc"][0])
    value = "(hidden)" if "key" in name else shorten(problem["input"])
    return f"{name.upper()}={value}: {problem['msg'].removeprefix('Value error, ')}"
