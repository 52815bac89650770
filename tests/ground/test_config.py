"""Settings: names of the contracts, clear refusals, auth that is never silently off (E6, E7, E10)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trigpoint import __version__
from trigpoint.config import Settings, load_settings
from trigpoint.errors import ConfigurationError

CONTRACT_VARIABLES = (
    "API_KEYS API_KEYS_FILE API_RATE_LIMIT DOCUMENT_STORE_PORT CHROMA_PERSIST_DIR ENABLE_OCR MCP_API_KEY IMAGE_RATIO_THRESHOLD "
    "POLICY_KB_PORT REDIS_URL CHERWELL_SCRAPER_PORT CHERWELL_PORTAL_URL SCRAPER_RATE_LIMIT SCRAPER_TIMEOUT SCRAPER_USER_AGENT "
    "TRIGPOINT_DATA_DIR CHROMA_URL DATABASE_URL QDRANT_URL MAX_UPLOAD_MB DOCUMENT_ROOTS IMAGE_RATIO_STRICT REVIEW_RESULT_TTL_DAYS "
    "WEBHOOK_MAX_RETRIES TRIGPOINT_MODEL REVIEW_MAX_TOKENS REVIEW_FALLBACK TRIGPOINT_CONFIG TRIGPOINT_GRAPH_URL TRIGPOINT_GRAPH_PROJECT "
    "GRAPH_WRITE_KEYS API_PORT LIBRARY_PORT GRAPH_PORT HOST CHERWELL_SCRAPER_URL DOCUMENT_STORE_URL POLICY_KB_URL ENVIRONMENT EMBEDDING_MODEL_PATH"
).split()


@pytest.mark.parametrize("name", CONTRACT_VARIABLES)
def test_every_variable_of_the_contracts_is_a_setting(name: str) -> None:
    assert Settings.model_fields[name.lower()].description


def test_defaults_are_those_of_the_contracts(settings: Settings) -> None:
    ports = (
        settings.api_port,
        settings.cherwell_scraper_port,
        settings.document_store_port,
        settings.policy_kb_port,
        settings.library_port,
        settings.graph_port,
    )
    assert ports == (8080, 3001, 3002, 3003, 3004, 3005)
    assert (settings.api_rate_limit, settings.max_upload_mb, settings.image_ratio_threshold, settings.enable_ocr) == (
        60,
        50,
        0.7,
        True,
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("API_PORT", "eighty", "API_PORT=eighty"),
        ("API_PORT", "70000", "less than or equal to 65535"),
        ("IMAGE_RATIO_THRESHOLD", "2", "IMAGE_RATIO_THRESHOLD=2"),
        ("REDIS_URL", "http://x", "redis://"),
        ("ENVIRONMENT", "staging", "'development' or 'production'"),
    ],
)
def test_a_wrong_value_names_variable_value_and_what_is_valid(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert name in caught.value.message
    assert said in caught.value.message


def test_a_wrong_secret_is_not_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text('{"keys": []}')
    monkeypatch.setenv("API_KEYS", "sk-very-secret")
    monkeypatch.setenv("API_KEYS_FILE", str(file))
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert "sk-very-secret" not in caught.value.message


@pytest.mark.parametrize("content", ['["k2","k3"]', '{"keys":["k2","k3"]}'])
def test_keys_of_variable_and_file_are_joined(tmp_path: Path, content: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(content)
    settings = load_settings(api_keys="k1, k2", api_keys_file=file)
    assert [key.secret for key in settings.key_ring.all()] == ["k1", "k2", "k3"]
    assert settings.rest_auth_on


@pytest.mark.parametrize("content", ["", "nonsense", "[]", "{}", '[""]', "[1]", '"key"'])
def test_a_bad_keys_file_stops_the_start(tmp_path: Path, content: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(content)
    with pytest.raises(ConfigurationError, match="API_KEYS_FILE"):
        load_settings(api_keys_file=file)
    with pytest.raises(ConfigurationError, match="API_KEYS_FILE"):
        load_settings(api_keys_file=tmp_path / "missing.json")


def test_binding_follows_auth_unless_told(settings: Settings) -> None:
    assert settings.bind_host(auth_on=False) == "127.0.0.1"
    assert settings.bind_host(auth_on=True) == "0.0.0.0"
    assert load_settings(host="::1").bind_host(auth_on=True) == "::1"


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_API_KEY", "")
    monkeypatch.setenv("REDIS_URL", "")
    settings = load_settings()
    assert not settings.mcp_auth_on
    assert settings.redis_url is None


def test_the_two_vector_stores_have_folders_of_their_own(tmp_path: Path) -> None:
    settings = load_settings(chroma_persist_dir=tmp_path)
    assert settings.chroma_dir("documents") != settings.chroma_dir("policies")
    assert settings.chroma_dir("documents").parent == tmp_path


def test_secrets_do_not_show_when_settings_are_printed() -> None:
    shown = repr(load_settings(api_keys="sk-1-secret", graph_write_keys="gw-secret", mcp_api_key="mcp-secret"))
    assert not any(secret in shown for secret in ("sk-1-secret", "gw-secret", "mcp-secret"))
    assert json.dumps(shown)


def test_the_scraper_names_the_version_that_is_running(settings: Settings) -> None:
    assert settings.scraper_user_agent.startswith(f"Trigpoint/{__version__} ")
