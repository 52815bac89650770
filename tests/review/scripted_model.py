"""A model that answers each pass of a review as a test tells it to, over HTTP in the Messages API."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from messages_server import Answer, message

PASSES = {
    "orient": "This first step is orientation",
    "read": "This step is reading",
    "judge": "This step is judging",
    "check": "You are a second, independent reader",
    "mend": "Some findings could not be accepted",
    "compare": "You see all findings of a review side by side",
    "conclude": "This last step is the conclusion",
}
Request = dict[str, Any]
Reply = Callable[[Request], Answer] | dict[str, Any]


def pass_of(request: Request) -> str:
    """Return which pass a request belongs to, by its instructions."""
    told = json.dumps(request["system"]) if "system" in request else json.dumps(request["messages"][0])
    return next(name for name, words in PASSES.items() if words in told)


def text_of(request: Request) -> str:
    """Return all that the model was shown in its messages."""
    parts: list[str] = []
    for one in request["messages"]:
        content = one["content"]
        blocks = [{"text": content}] if isinstance(content, str) else content
        parts += [str(block.get("text") or block.get("content") or block.get("input") or "") for block in blocks]
    return "\n".join(parts)


def hand_in(value: dict[str, Any], tokens: tuple[int, int] = (900, 100)) -> Answer:
    return use_tool("hand_in", value, tokens)


def use_tool(name: str, value: dict[str, Any], tokens: tuple[int, int] = (900, 100)) -> Answer:
    return message([{"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": value}], "tool_use", tokens)


def opinions(request: Request, outcome: str = "failed", **said: Any) -> dict[str, Any]:
    """Return one opinion on every claim that is shown. The second reader finds the outcome itself: `partly` if a lack is
    named, else the one that is given here."""
    found: dict[str, str] = {}
    for line in text_of(request).splitlines():
        if line.startswith("F") and line[1:2].isdigit():
            found[line.split(" ")[0]] = outcome
        elif line.startswith("   lacking: "):
            found[list(found)[-1]] = "partly"
    return {"opinions": [{"support": "supported"} | said | {"id": name, "outcome": one} for name, one in found.items()]}


def supported(request: Request) -> Answer:
    """Support every claim that is shown as a shortfall."""
    return hand_in(opinions(request))


def supported_as_met(request: Request) -> Answer:
    """Support every claim that is shown as met."""
    return hand_in(opinions(request, "met"))


def all_stand(request: Request) -> Answer:
    """Say of every finding that is compared that its outcome stands."""
    names = re.findall(r"^(F\d+) \[\w+\] (?:met|partly|failed|contradicted|noted)", text_of(request), re.MULTILINE)
    return hand_in({"outcomes": [{"id": name, "because": "Policy asks for it.", "stands": True} for name in names]})


class ScriptedModel:
    """Answers by pass: `judge=[first, second]`. A list is used up in order, its last answer for good."""

    def __init__(self, **replies: Reply | list[Reply]) -> None:
        plain: dict[str, Reply | list[Reply]] = {
            "orient": {},
            "read": {"facts": []},
            "judge": {"findings": []},
            "check": supported,
            "mend": {"give_up": []},
            "compare": all_stand,
            "conclude": {"summary": [{"text": "Homes are proposed."}], "stance": "comment"},
        }
        self.replies = plain | replies
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Answer:
        name = pass_of(request)
        self.asked[name] += 1
        reply = self.replies[name]
        if isinstance(reply, list):
            reply = reply[min(self.asked[name], len(reply)) - 1]
        return reply(request) if callable(reply) else hand_in(reply)
