"""Check the model of the settings with one small call, so that a wrong name or key is told at once and in one line."""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    UserError,
)
from pydantic_ai.models import infer_model

from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError
from trigpoint.review.agent.model_name import reason
from trigpoint.review.transcripts import REPLAY, open_model

PATIENCE = 30.0  # seconds


class ModelUnreachable(ConfigurationError):
    """The provider could not be asked now. Nothing shows that the settings are wrong."""


async def probe_model(settings: Settings) -> str:
    """Return that the model answers. Raise ConfigurationError if its name or key is wrong, ModelUnreachable if it is away."""
    name = settings.trigpoint_model
    assert name is not None
    try:
        model = infer_model(open_model(name, None))
        if name.startswith(REPLAY):
            return f"{name} is a transcript that can be read"
        agent = Agent(model, model_settings={"max_tokens": 16, "timeout": PATIENCE})
        async with asyncio.timeout(PATIENCE):
            await agent.run("Answer with the word: ready")
    except (ModelAuthenticationError, ModelQuotaExceededError) as error:
        raise ConfigurationError(f"TRIGPOINT_MODEL={name}: the key was refused ({reason(error)})") from None
    except ModelNotFoundError as error:
        raise ConfigurationError(f"TRIGPOINT_MODEL={name}: there is no such model ({reason(error)})") from None
    except ModelHTTPError as error:
        if error.status_code in (400, 403, 404, 422):
            raise ConfigurationError(f"TRIGPOINT_MODEL={name} was refused ({reason(error)})") from None
        raise ModelUnreachable(f"TRIGPOINT_MODEL={name} does not answer now ({reason(error)})") from None
    except (UserError, ValueError, ImportError) as error:
        raise ConfigurationError(f"TRIGPOINT_MODEL={name} cannot be used: {reason(error)}") from None
    except TimeoutError:
        raise ModelUnreachable(f"TRIGPOINT_MODEL={name} did not answer within {PATIENCE:g} s") from None
    except AgentRunError as error:  # an answer that is no text is an answer
        if "Connection" in type(error).__name__:
            raise ModelUnreachable(f"TRIGPOINT_MODEL={name} cannot be reached ({reason(error)})") from None
    return f"{name} answers"
