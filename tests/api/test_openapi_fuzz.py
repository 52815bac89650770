"""Schemathesis on our own OpenAPI document: no 5xx, and every answer as it is documented."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from filling import completed, failed
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from serving_api import running_api
from trigpoint.config import Settings

pytestmark = pytest.mark.slow

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 40


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_as_documented(
    api_settings: Callable[..., Settings], clean_redis_url: str, free_port: Callable[[], int], mode: GenerationMode
) -> None:
    """DELETE needs the policy server, which is not there: a 503 is its documented answer, and no crash."""
    chosen = api_settings(policy_kb_url=f"http://127.0.0.1:{free_port()}")
    with running_api(chosen) as api:
        for ref in ("25/00001/F", "25/00002/F"):
            api.post("/api/v1/reviews", json={"application_ref": ref})
        completed(clean_redis_url)
        failed(clean_redis_url)
        schema = schemathesis.openapi.from_url(f"{api.base_url}/openapi.json")
        tested = 0
        for found in schema.get_all_operations():
            operation = found.ok()
            if mode is GenerationMode.NEGATIVE and not _takes_anything(operation):
                continue

            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.explicit, Phase.generate],
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def answers(case: schemathesis.Case) -> None:
                answer = case.call(timeout=20)
                if answer.status_code != 503:
                    case.validate_response(answer, checks=CHECKS)
                assert answer.headers["x-request-id"]

            answers()
            tested += 1
        assert tested >= (19 if mode is GenerationMode.POSITIVE else 6)


def _takes_anything(operation: Any) -> bool:
    """Whether there is something to get wrong beyond an id in the path, which may be any text."""
    return bool(operation.body) or bool(operation.query)
