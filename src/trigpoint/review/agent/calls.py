"""Calls to the model: each answer is kept before it is used, overload is waited out, budgets and concurrency hold."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.exceptions import (
    ModelConnectionError,
    ModelHTTPError,
    ModelOverloadedError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from trigpoint.config import Settings
from trigpoint.errors import AnalysisFailed
from trigpoint.review.conclusion import Spent
from trigpoint.review.models import Checkpoints
from trigpoint.review.transcripts import as_data, described, fingerprint, response_of

log = logging.getLogger(__name__)

WAITS = (2.0, 8.0, 20.0, 45.0)
"""Seconds between tries of a call that the provider turned away. What it asks for in `retry-after` counts if it is longer."""
LONGEST_WAIT = 90.0
_WORTH_ANOTHER_TRY = (
    ModelRateLimitError,
    ModelOverloadedError,
    ModelUnavailableError,
    ModelServerError,
    ModelConnectionError,
    ModelTimeoutError,
)


class BudgetSpent(AnalysisFailed):
    """A budget of the review is used up: of tokens, or of money."""


@dataclass
class Ledger:
    """The tokens and money that a review has spent, by pass, including the calls that an earlier try made."""

    settings: Settings
    passes: dict[str, Spent] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return sum(one.input_tokens + one.output_tokens for one in self.passes.values())

    @property
    def cost(self) -> float | None:
        """The cost so far by the configured prices, or None without them."""
        prices = self.settings.review_price_input, self.settings.review_price_output
        if prices[0] is None or prices[1] is None:
            return None
        spent = self.passes.values()
        asked, said = sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent)
        return round((asked * prices[0] + said * prices[1]) / 1_000_000, 4)

    def check(self) -> None:
        """Raise BudgetSpent if nothing more may be asked."""
        if self.tokens >= self.settings.review_max_tokens:
            raise BudgetSpent(f"The budget of {self.settings.review_max_tokens:,} tokens (REVIEW_MAX_TOKENS) is spent")
        most = self.settings.review_max_cost
        if most is not None and self.cost is not None and self.cost >= most:
            raise BudgetSpent(f"The budget of {most:g} (REVIEW_MAX_COST) is spent")

    def add(self, name: str, response: ModelResponse) -> None:
        before, usage = self.passes.get(name, Spent()), response.usage
        self.passes[name] = Spent(
            calls=before.calls + 1,
            input_tokens=before.input_tokens + usage.input_tokens,
            output_tokens=before.output_tokens + usage.output_tokens,
            cached_tokens=before.cached_tokens + usage.cache_read_tokens,
        )


@dataclass
class ModelDesk:
    """The model of one review and its limits: every call goes through here. `turn` limits how many run at the same time."""

    model: Model
    settings: Settings
    checkpoints: Checkpoints
    ledger: Ledger
    turn: asyncio.Semaphore
    asked: int = 0

    def for_pass(self, name: str) -> PassModel:
        return PassModel(self, name)


class PassModel(WrapperModel):
    """The model as one pass sees it. The same request is never paid for twice: its answer is in the checkpoints."""

    def __init__(self, desk: ModelDesk, name: str) -> None:
        super().__init__(desk.model)
        self._desk, self._pass = desk, name

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        desk = self._desk
        key = f"model_call:{self._pass}:{fingerprint(described(messages, model_request_parameters))}"
        kept = await desk.checkpoints.load(key)
        if kept is not None:
            response = response_of(kept)
        else:
            desk.ledger.check()
            async with desk.turn:
                desk.asked += 1
                ask = super().request
                response = await _patiently(
                    lambda: ask(messages, model_settings, model_request_parameters), desk.settings
                )
            await desk.checkpoints.save(key, as_data(response))
        desk.ledger.add(self._pass, response)
        return response


async def _patiently(ask: Callable[[], Awaitable[ModelResponse]], settings: Settings) -> ModelResponse:
    """Return the answer; wait and ask again if the provider is overloaded, limits the rate or cannot be reached."""
    for wait in WAITS:
        started = time.monotonic()
        try:
            async with asyncio.timeout(settings.review_call_timeout_seconds):
                return await ask()
        except _WORTH_ANOTHER_TRY as error:
            pause = min(LONGEST_WAIT, max(wait, _asked_for(error)))
            log.warning("the model is not available (%s); next try in %.0f s", type(error).__name__, pause)
        except TimeoutError:
            pause = wait
            log.warning("the model did not answer in %.0f s; next try in %.0f s", time.monotonic() - started, pause)
        await asyncio.sleep(pause)
    async with asyncio.timeout(settings.review_call_timeout_seconds):
        return await ask()


def _asked_for(error: Exception) -> float:
    headers: dict[str, Any] = (error.headers or {}) if isinstance(error, ModelHTTPError) else {}
    try:
        return float(headers.get("retry-after", 0))
    except ValueError:
        return 0.0
