"""Transcripts: what a model was asked and answered is kept, and can be answered from, byte for byte."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from trigpoint.errors import AnalysisFailed, ConfigurationError
from trigpoint.review.transcripts import RecordedModel, Recorder, ReplayedModel, read_transcript


class Verdict(BaseModel):
    rating: str


def count_calls(calls: list[str]) -> FunctionModel:
    """Looks something up with a tool first, then gives its verdict."""

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        calls.append("asked")
        if len(messages) == 1:
            return ModelResponse([TextPart("Let me look."), ToolCallPart("look_up", {"page": 7}, tool_call_id="c1")])
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"rating": "amber"}, tool_call_id="c2")])

    return FunctionModel(answer)


def agent_on(model: FunctionModel | RecordedModel | ReplayedModel) -> Agent[None, Verdict]:
    agent = Agent(model, output_type=Verdict, instructions="Judge with care.")

    @agent.tool_plain
    def look_up(page: int) -> str:
        return f"Page {page} says 40 spaces."

    return agent


async def test_a_conversation_with_tools_runs_again_from_its_transcript(tmp_path: Path) -> None:
    file, calls = tmp_path / "t" / "review.jsonl", list[str]()
    first = await agent_on(RecordedModel(count_calls(calls), Recorder(file))).run("Is the parking enough?")
    again = await agent_on(ReplayedModel(file)).run("Is the parking enough?")
    assert (again.output, len(calls), len(read_transcript(file))) == (first.output, 2, 2)


async def test_calls_that_ran_at_once_are_told_apart_by_what_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "review.jsonl"

    async def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = str(messages[0].parts[0].content)  # type: ignore[union-attr]
        await asyncio.sleep(0.02 if asked.endswith("1") else 0)
        return ModelResponse([TextPart(f"answer to {asked}")])

    questions = [f"question {number}" for number in (1, 2, 3)]
    recorded = Agent(RecordedModel(FunctionModel(echo), Recorder(file)))
    await asyncio.gather(*(recorded.run(question) for question in questions))
    replayed = Agent(ReplayedModel(file))
    answers = [(await replayed.run(question)).output for question in reversed(questions)]
    assert answers == [f"answer to {question}" for question in reversed(questions)]


async def test_a_request_that_no_longer_fits_says_what_changed(tmp_path: Path) -> None:
    file = tmp_path / "review.jsonl"
    await agent_on(RecordedModel(count_calls([]), Recorder(file))).run("Aspect: Cycle Parking\nPages: 3 to 9")
    with pytest.raises(AnalysisFailed, match=r"review\.jsonl no longer fits") as caught:
        await agent_on(ReplayedModel(file)).run("Aspect: Cycle Parking\nPages: 3 to 10")
    assert "'Pages: 3 to 9' and is now 'Pages: 3 to 10'" in caught.value.message


async def test_an_answer_is_given_once_for_each_time_it_was_recorded(tmp_path: Path) -> None:
    file = tmp_path / "review.jsonl"
    await agent_on(RecordedModel(count_calls([]), Recorder(file))).run("Is it enough?")
    model = ReplayedModel(file)
    await agent_on(model).run("Is it enough?")
    with pytest.raises(AnalysisFailed, match="no answer left"):
        await agent_on(model).run("Is it enough?")


@pytest.mark.parametrize("content", ["nonsense", '{"request": 1}', None])
def test_a_file_that_is_no_transcript_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "review.jsonl"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"review\.jsonl cannot be read as a transcript"):
        ReplayedModel(file)
