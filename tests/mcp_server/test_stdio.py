"""A server on stdin and stdout, as a client that writes odd lines sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "odd", "version": "1"},
}


class Conversation:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, ident: int, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode())

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Conversation]:
    settings = {"TRIGPOINT_DATA_DIR": str(tmp_path), "TRIGPOINT_CONFIG": str(tmp_path / "trigpoint.toml")}
    (tmp_path / "trigpoint.toml").write_text('[library.projects."plain"]\n')
    command = [sys.executable, "-m", "trigpoint.cli.main", "mcp", "library"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **settings},
    ) as process:
        talk = Conversation(process)
        talk.request(0, "initialize", **HELLO)
        assert talk.answer()["id"] == 0
        talk.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield talk
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.timeout(60)
def test_a_request_with_half_a_surrogate_pair_is_refused_under_its_id(talk: Conversation) -> None:
    call = (
        b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"list_projects","arguments":{"x":"\\ud83d"}}}'
    )
    for ident in (b"7", b'"seven"'):
        talk.write(call % ident)
        answer = talk.answer()
        assert answer["id"] == json.loads(ident)
        assert (answer["error"]["code"], answer["error"]["message"][:11]) == (-32700, "Parse error")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("line", [b"", b"not JSON", b"[]", b"\xff\xfe", b'{"id":' + b"[" * 5000, b'{"id":true}'])
def test_a_line_without_an_id_costs_nothing(talk: Conversation, line: bytes) -> None:
    talk.write(line)
    talk.request(1, "ping")
    assert talk.answer() == {"jsonrpc": "2.0", "id": 1, "result": {}}
