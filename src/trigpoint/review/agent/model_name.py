"""The model that `TRIGPOINT_MODEL` names, tried before anybody waits for it."""

from __future__ import annotations

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model

from trigpoint.errors import ConfigurationError, shorten
from trigpoint.review.transcripts import open_model


def named_model(name: str) -> Model:
    """Return the model of this name. Raises ConfigurationError with the way out; nothing is sent to its provider."""
    try:
        return infer_model(open_model(name, None))
    except (UserError, ValueError, ImportError) as error:
        raise ConfigurationError(
            f"TRIGPOINT_MODEL={shorten(name)} cannot be used: {reason(error)}. Name a provider and a model, such as "
            "anthropic:claude-sonnet-5-5, and set the key of that provider; or leave it out for a brief by fixed rules"
        ) from None


def reason(error: Exception) -> str:
    """Return what a model's library complains of, without its advice to programmers."""
    said = " ".join(str(error).split()) or type(error).__name__
    return shorten(said.split(" or pass it via ")[0].removesuffix("."), 160)
