"""A hosted Qdrant asks for a key: it is sent with every request, and never shown."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from trigpoint.cli.doctor import CHECKS
from trigpoint.config import Settings, load_settings
from trigpoint.errors import IndexUnavailable, StoreUnavailable
from trigpoint.library.library import open_stores
from trigpoint.library.projects import Project

KEY = "qdrant-s3cret"
PROJECT = Project("team/streets", "streets")

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


class HostedQdrant:
    """Answers as an empty Qdrant does to whoever has the key."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.keys.append(self.headers.get("api-key"))
                allowed = owner.keys[-1] == KEY
                result = {"exists": False} if self.path.endswith("/exists") else {"collections": []}
                body = (
                    {"result": result, "status": "ok", "time": 0.0}
                    if allowed
                    else {"status": "Must provide an API key"}
                )
                data = json.dumps(body).encode()
                self.send_response(200 if allowed else 401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def hosted() -> Iterator[HostedQdrant]:
    qdrant = HostedQdrant()
    yield qdrant
    qdrant.server.shutdown()
    qdrant.server.server_close()


def with_key(hosted: HostedQdrant, folder: Path, key: str | None) -> Settings:
    return load_settings(trigpoint_data_dir=folder, qdrant_url=hosted.url, qdrant_api_key=key)


def test_the_key_goes_with_every_request(hosted: HostedQdrant, tmp_path: Path) -> None:
    assert open_stores(with_key(hosted, tmp_path, KEY)).collection(PROJECT.id).fingerprint() is None
    assert hosted.keys
    assert set(hosted.keys) == {KEY}


@pytest.mark.parametrize("key", [None, "wrong-s3cret"])
def test_without_the_right_key_the_message_names_the_setting_and_shows_no_key(
    hosted: HostedQdrant, tmp_path: Path, key: str | None
) -> None:
    with pytest.raises(IndexUnavailable, match="QDRANT_API_KEY") as refused:
        open_stores(with_key(hosted, tmp_path, key)).collection(PROJECT.id).fingerprint()
    assert "s3cret" not in refused.value.message


def test_the_key_is_in_no_log_and_no_printed_settings(
    hosted: HostedQdrant, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = with_key(hosted, tmp_path, KEY)
    with caplog.at_level(logging.DEBUG):
        open_stores(settings).collection(PROJECT.id).fingerprint()
    assert KEY not in caplog.text
    assert KEY not in repr(settings)
    assert KEY not in settings.model_dump_json()


def test_the_doctor_uses_the_key(hosted: HostedQdrant, tmp_path: Path) -> None:
    look = CHECKS["store of the library"]
    assert look(with_key(hosted, tmp_path, KEY)) == hosted.url
    with pytest.raises(StoreUnavailable, match="401"):
        look(with_key(hosted, tmp_path, None))
    assert hosted.keys == [KEY, None]
