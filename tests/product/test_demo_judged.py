"""`trigpoint demo run` with recorded answers of a model: a judged review next to the brief, and a plain word when they no longer fit."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "review"))

from messages_server import MessagesServer
from scripted_model import ScriptedModel

from trigpoint_process import environment, trigpoint

REFERENCE = "25/02034/F"


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_the_demo_replays_recorded_answers_and_says_which_call_no_longer_fits(tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    with MessagesServer(ScriptedModel()) as server:
        env = environment(
            tmp_path / "unused", TRIGPOINT_MODEL="anthropic:claude-haiku-4-5", REVIEW_TRANSCRIPTS="true",
            ANTHROPIC_API_KEY="test-key", ANTHROPIC_BASE_URL=server.url,
        )  # fmt: skip
        trigpoint("demo", "run", "--reference", REFERENCE, "--out", str(recording), env=env, timeout=800)
        asked = len(server.requests)
    [transcript] = (recording / "data" / "transcripts").glob("*.jsonl")
    calls = [json.loads(line) for line in transcript.read_text().splitlines()]
    assert len(calls) == asked
    kept = tmp_path / "transcripts" / "25_02034_F.jsonl"
    kept.parent.mkdir()
    kept.write_text(transcript.read_text())
    plain = environment(tmp_path / "unused")
    run = ("demo", "run", "--reference", REFERENCE, "--out", str(tmp_path / "out"), "--transcripts", str(kept.parent))
    done = trigpoint(*run, env=plain, timeout=800)
    assert done.returncode == 0, done.stderr
    assert "from answers that were recorded earlier" in done.stdout
    judged = json.loads((tmp_path / "out" / "judged" / "review-25_02034_F.json").read_text())
    assert judged["metadata"]["model"] == f"replay:{kept}"
    assert "recorded earlier" in judged["review"]["notice"]
    brief = json.loads((tmp_path / "out" / "review-25_02034_F.json").read_text())
    assert brief["metadata"]["model"] == "rules"
    kept.write_text(transcript.read_text().replace("This step is judging", "This step was judging"))
    changed = trigpoint(*run, env=plain, timeout=800)
    assert changed.returncode == 1
    assert "no longer fits: call" in changed.stderr
