"""Transcripts of what was asked of a model and what it answered, and a model that answers from one.

A transcript is a JSON Lines file with one call a line. `TRIGPOINT_MODEL=replay:FILE` answers each request with what was answered
to the same request before: the whole review runs again, byte for byte, without a provider. No key is ever part of a request.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict, deque
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from trigpoint.errors import AnalysisFailed, ConfigurationError, shorten
from trigpoint.review.chat_servers import CHAT, ChatServerModel

REPLAY = "replay:"
_CHANGING = frozenset(
    {
        *("timestamp", "run_id", "conversation_id", "provider_response_id", "provider_details", "metadata"),
        *("model_id", "state"),
    }
)
_OF_THE_PROVIDER = frozenset({"usage", "model_name", "provider_name", "provider_url", "finish_reason"})


@dataclass(frozen=True)
class RecordedCall:
    """One request and its answer. `request` is what the model was shown, as data."""

    request: dict[str, Any]
    response: dict[str, Any]
    number: int = 0  # its place in the transcript, from 1

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.request)


class Recorder:
    """Appends calls to a transcript. Each is on disk before its answer is used; safe to share between tasks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)

    def add(self, call: RecordedCall) -> None:
        line = json.dumps({"request": call.request, "response": call.response}, ensure_ascii=False, sort_keys=True)
        with self._lock, self._file.open("a", encoding="utf-8") as out:
            out.write(line + "\n")


class RecordedModel(WrapperModel):
    """A model whose calls are written to a transcript."""

    def __init__(self, wrapped: Model | str, recorder: Recorder) -> None:
        super().__init__(wrapped)  # type: ignore[arg-type]
        self._recorder = recorder

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await super().request(messages, model_settings, model_request_parameters)
        self._recorder.add(RecordedCall(described(messages, model_request_parameters), as_data(response)))
        return response


def open_model(name: str, transcript: Path | None) -> Model | str:
    """Return the model of this name, which writes a transcript if a file for it is given. Raises ConfigurationError."""
    model: Model | str = name
    if name.startswith(REPLAY):
        model = ReplayedModel(Path(name.removeprefix(REPLAY)))
    elif name.startswith(CHAT):
        model = ChatServerModel(name)  # type: ignore[arg-type]
    return RecordedModel(model, Recorder(transcript)) if transcript is not None else model


class ReplayedModel(WrapperModel):
    """A model that answers from a transcript. Raises ConfigurationError if the file is none."""

    def __init__(self, file: Path) -> None:
        super().__init__(FunctionModel(_never_asked, model_name=f"{REPLAY}{file.name}"))
        self._file = file
        self._answers: defaultdict[str, deque[RecordedCall]] = defaultdict(deque)
        for call in read_transcript(file):
            self._answers[call.fingerprint].append(call)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return what was answered to the same request before. Raises AnalysisFailed, saying what changed since."""
        request = described(messages, model_request_parameters)
        waiting = self._answers[fingerprint(request)]
        if not waiting:
            rest = {call.number: call for calls in self._answers.values() for call in calls}
            raise AnalysisFailed(f"The transcript {self._file.name} no longer fits: {_what_changed(request, rest)}")
        return response_of(waiting.popleft().response)


async def _never_asked(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    raise AssertionError("a replay answers from its transcript")


def read_transcript(file: Path) -> list[RecordedCall]:
    """Return the calls of a transcript, in order. Raises ConfigurationError."""
    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return [
            RecordedCall(dict(line["request"]), dict(line["response"]), number) for number, line in enumerate(lines, 1)
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{file} cannot be read as a transcript ({shorten(error)})") from None


def described(messages: list[ModelMessage], parameters: ModelRequestParameters) -> dict[str, Any]:
    """Return what a model is shown, without what differs from run to run."""
    said = _stable(ModelMessagesTypeAdapter.dump_python(messages, mode="json"))
    tools = [*parameters.function_tools, *parameters.output_tools]
    offered = [{"name": tool.name, "parameters": tool.parameters_json_schema} for tool in tools]
    return {"messages": said, "tools": offered}


def response_of(data: dict[str, Any]) -> ModelResponse:
    """Return the answer that `as_data` wrote."""
    response = ModelMessagesTypeAdapter.validate_python([data])[0]
    assert isinstance(response, ModelResponse)
    return response


def as_data(response: ModelResponse) -> dict[str, Any]:
    """Return an answer as JSON data, without what differs from run to run."""
    data: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    return {key: value for key, value in data.items() if key not in _CHANGING}


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        kept = value.keys() - _CHANGING - _OF_THE_PROVIDER
        return {key: _stable(value[key]) for key in sorted(kept) if value[key] is not None}
    return [_stable(inner) for inner in value if not _is_library_note(inner)] if isinstance(value, list) else value


def _is_library_note(part: Any) -> bool:
    """Return whether pydantic-ai added a part, for models that have no system messages within a conversation."""
    said = part.get("content") if isinstance(part, dict) else None
    return isinstance(said, str) and said.startswith("Mid-conversation system messages arrive inside user turns")


def fingerprint(request: dict[str, Any]) -> str:
    """Return a hash by which the same request is known again."""
    return hashlib.sha256(json.dumps(request, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _what_changed(request: dict[str, Any], recorded: dict[int, RecordedCall]) -> str:
    """Return which recorded call is most like a request, and the first line in which they differ."""
    now = _lines(request)
    if not recorded:
        return f"there is no answer left for the request that begins {shorten(now[0] if now else '', 120)!r}"
    nearest = max(recorded.values(), key=lambda call: _likeness(now, _lines(call.request)))
    then = _lines(nearest.request)
    different = next(
        (n for n, pair in enumerate(zip(now, then, strict=False)) if pair[0] != pair[1]), min(len(now), len(then))
    )
    was, is_now = (lines[different] if different < len(lines) else "(nothing)" for lines in (then, now))
    return f"call {nearest.number} has changed: line {different + 1} of its request was {shorten(was, 160)!r} and is now {shorten(is_now, 160)!r}. Record it again"


def _lines(request: dict[str, Any]) -> list[str]:
    texts = [part for message in request["messages"] for part in _texts(message)]
    return "\n".join(texts).splitlines()


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []


def _likeness(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one[:200], other[:200], autojunk=False).quick_ratio()


def spoken(call: RecordedCall) -> list[tuple[str, str]]:
    """Return what was said in a call, for people: who speaks, and the words."""
    said = [turn for message in call.request["messages"] for turn in _turns(message)]
    return [*said, *_turns(call.response)]


_SPEAKERS = {
    "system-prompt": "Instructions",
    "user-prompt": "Asked",
    "tool-return": "Tool answered",
    "retry-prompt": "Sent back",
    "text": "Model",
    "tool-call": "Model",
}


def _turns(message: dict[str, Any]) -> list[tuple[str, str]]:
    told = [("Instructions", message["instructions"])] if message.get("instructions") else []
    return told + [_turn(part) for part in message.get("parts", ())]


def _turn(part: dict[str, Any]) -> tuple[str, str]:
    who = _SPEAKERS.get(part.get("part_kind", ""), "Other")
    if part.get("part_kind") == "tool-call":
        args = part.get("args")
        return f"{who}: {part.get('tool_name')}", args if isinstance(args, str) else json.dumps(
            args, ensure_ascii=False, indent=1
        )
    return who, "\n".join(_texts(part.get("content")))
