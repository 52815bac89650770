"""deploy/: what can be checked without a container engine or systemd. Names in it are names of the product."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from trigpoint.cli.serve import PARTS
from trigpoint.config import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
SETTINGS = {name.upper() for name in Settings.model_fields}
FOREIGN = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}  # of the database's own image


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def test_every_variable_of_the_compose_file_is_a_setting(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        unknown = set(service.get("environment", {})) - SETTINGS - FOREIGN
        assert not unknown, f"{name}: {unknown}"
    mentioned = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text(encoding="utf-8")))
    assert mentioned <= SETTINGS | FOREIGN


def test_every_part_has_its_own_service(compose: dict[str, Any]) -> None:
    commands = {name: s["command"] for name, s in compose["services"].items() if s.get("image") == "trigpoint"}
    assert {name: command[2] for name, command in commands.items()} == {part: part for part in PARTS}


def test_every_address_is_a_service_of_the_file_on_its_port(compose: dict[str, Any]) -> None:
    ports = {"redis": 6379, "chroma": 8000, "postgres": 5432, "qdrant": 6333, "api": Settings().api_port}
    ports |= {"scraper": 3001, "document-store": 3002, "policy-kb": 3003}
    for name, value in compose["services"]["worker"]["environment"].items():
        if name.endswith("_URL"):
            parts = urlsplit(re.sub(r"\$\{[^}]*\}", "x", value))
            assert parts.hostname in compose["services"], name
            assert parts.port == ports[parts.hostname], name


def test_the_settings_of_the_compose_file_are_accepted(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trigpoint.config import load_settings

    for name, value in compose["services"]["api"]["environment"].items():
        monkeypatch.setenv(name, re.sub(r"\$\{[^}]*\}", "x", str(value)))
    settings = load_settings()
    assert settings.rest_auth_on
    assert settings.mcp_auth_on


def test_every_volume_that_is_used_is_declared(compose: dict[str, Any]) -> None:
    used = {volume.split(":")[0] for s in compose["services"].values() for volume in s.get("volumes", ())}
    assert used == set(compose["volumes"])


def test_the_unit_starts_a_command_that_exists_and_names_settings() -> None:
    unit = (DEPLOY / "trigpoint.service").read_text(encoding="utf-8")
    assert re.search(r"^ExecStart=\S+/trigpoint up$", unit, re.MULTILINE)
    (line,) = re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
    assert {pair.split("=")[0] for pair in line.split()} <= SETTINGS


def test_the_image_is_locked_and_not_root() -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    installs = [line for line in image.splitlines() if "pip install" in line and ".lock" in line]
    assert installs
    assert all("--no-deps" in line and "--require-hashes" in line for line in installs)
    assert re.search(r"^USER trigpoint$", image, re.MULTILINE)
    for line in image.splitlines():
        if line.startswith("ENV "):
            names = {pair.split("=")[0] for pair in line.removeprefix("ENV ").split()}
            assert names <= SETTINGS | {"PATH", "PYTHONUNBUFFERED"}
