"""The parts of a site: each is an application of its own at its path."""

from __future__ import annotations

import re

from starlette.routing import Mount
from starlette.types import ASGIApp


class Part(Mount):
    """A mount whose paths may contain anything. Starlette's own cuts a path in the wrong place if it ends with a line break."""

    def __init__(self, path: str, app: ASGIApp) -> None:
        super().__init__(path, app)
        self.path_regex = re.compile(self.path_regex.pattern, re.DOTALL)
