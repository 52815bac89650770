"""Pages of other sites: those named in `CORS_ORIGINS` may call the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rest_envelope import error

from serving_api import running_api
from trigpoint.config import Settings, load_settings
from trigpoint.errors import ConfigurationError

REVIEWS = "/api/v1/reviews"


def test_pages_of_named_sites_may_call_and_others_may_not(api_settings: Callable[..., Settings]) -> None:
    with running_api(api_settings(cors_origins="https://planning.example")) as api:
        asked = {"Origin": "https://planning.example", "Access-Control-Request-Method": "POST"}
        answer = api.options(
            REVIEWS, headers={**asked, "Access-Control-Request-Headers": "authorization,idempotency-key"}
        )
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://planning.example"
        read = api.get(REVIEWS, headers={"Origin": "https://planning.example"})
        assert read.headers["access-control-allow-origin"] == "https://planning.example"
        assert {"X-Request-ID", "Content-Disposition"} <= set(read.headers["access-control-expose-headers"].split(", "))
        assert "access-control-allow-origin" not in api.get(REVIEWS, headers={"Origin": "https://else.example"}).headers


def test_a_preflight_that_is_refused_is_an_error_like_any_other(api_settings: Callable[..., Settings]) -> None:
    allowed, asked = {"Origin": "https://planning.example"}, "Access-Control-Request-Method"
    with running_api(api_settings(cors_origins="https://planning.example", api_keys=("k",))) as api:
        other = api.options(REVIEWS, headers={"Origin": "https://else.example", asked: "GET"})
        assert "CORS_ORIGINS" in error(other, 400)["message"]
        wrong = api.options(REVIEWS, headers={**allowed, asked: "TRACE"})
        assert error(wrong, 400)["code"] == "bad_request"
        assert wrong.headers["access-control-allow-origin"] == "https://planning.example"
        head = api.options(
            REVIEWS, headers={**allowed, asked: "HEAD", "Access-Control-Request-Headers": "authorization"}
        )
        assert head.status_code == 200


@pytest.mark.parametrize("origin", ["*", "planning.example", "https://x.example/path", "ftp://x.example"])
def test_an_origin_that_is_none_stops_the_start(origin: str) -> None:
    with pytest.raises(ConfigurationError, match="CORS_ORIGINS"):
        load_settings(cors_origins=origin)
