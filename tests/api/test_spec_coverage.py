"""The contract's own text, where it is at hand: every endpoint it names is served, every error code is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trigpoint import errors
from trigpoint.api.app import rest_app
from trigpoint.api.errors import _CODES
from trigpoint.api.schemas.reviews import PhaseName
from trigpoint.config import Settings
from trigpoint.jobs.events import DEFAULT_EVENTS
from trigpoint.jobs.reviews import STATUSES
from trigpoint.policies.models import PolicyCategory, RevisionStatus


@pytest.fixture
def contract(shared_data: Path) -> str:
    path = shared_data.parent / "spec" / "rest-api.md"
    if not path.is_file():
        pytest.skip(f"no contract at {path}")
    return path.read_text(encoding="utf-8")


def test_every_endpoint_is_served(contract: str, api_settings: Callable[..., Settings]) -> None:
    named = set(re.findall(r"^#### `([A-Z]+) (/\S+)`", contract, re.MULTILINE))
    paths = rest_app(api_settings()).openapi()["paths"]
    served = {(method.upper(), path) for path, item in paths.items() for method in item}
    assert len(named) == 18
    assert named <= served


def test_every_error_code_is_one_of_ours(contract: str) -> None:
    shown = set()
    for block in re.findall(r"```json\n(.*?)```", contract, re.DOTALL):
        error = json.loads(block).get("error")
        if isinstance(error, dict) and "<" not in error["code"]:
            shown.add(error["code"])
    known = set(_CODES.values()) | {
        cls.code for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.TrigpointError)
    }
    assert len(shown) >= 12
    assert shown <= known


def test_every_enum_has_the_contracts_values(contract: str) -> None:
    def values(heading: str) -> list[str]:
        section = contract.split(f"### {heading}\n")[1].split("\n### ")[0].split("\n---")[0]
        return re.findall(r"^\| `([a-z_.]+)` \|", section, re.MULTILINE)

    assert values("ReviewStatus") == list(STATUSES)
    assert values("ProcessingPhase") == list(PhaseName.__args__)  # type: ignore[attr-defined]
    assert sorted(values("PolicyCategory")) == sorted(PolicyCategory)
    assert sorted(values("RevisionStatus")) == sorted(RevisionStatus)
    assert values("Events") == list(DEFAULT_EVENTS)  # one more can be asked for: review.cancelled


def test_an_answer_in_several_formats_is_text_first(api_settings: Callable[..., Settings]) -> None:
    """Generators of clients that know one type for an answer take the first that they can read, and would read a PDF as JSON."""
    operation = rest_app(api_settings()).openapi()["paths"]["/api/v1/reviews/{review_id}/download"]["get"]
    described = list(operation["responses"]["200"]["content"].values())
    assert len(described) > 3
    assert described[0]["schema"] == {"type": "string"}
