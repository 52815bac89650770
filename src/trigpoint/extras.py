"""Optional packages (extras): if one that is needed is missing, the error names it in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trigpoint.errors import ConfigurationError


@contextmanager
def needs_extra(extra: str, package: str, purpose: str) -> Iterator[None]:
    """Raise ConfigurationError, naming the extra, if an import inside this context does not find the package."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ConfigurationError(
            f"{purpose} needs {package}, which is not installed. Install trigpoint[{extra}]: "
            f"pip install 'trigpoint[{extra}]'"
        ) from None
