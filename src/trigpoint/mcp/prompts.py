"""A prompt that a client offers to its user, declared once: its arguments, and the text with them filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types

from trigpoint.errors import InvalidInput, shorten

_LONGEST_ARGUMENT = 500


@dataclass(frozen=True)
class Argument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """`text` has a `{name}` for every argument; an optional one may be left out."""

    name: str
    title: str
    description: str
    text: str
    arguments: tuple[Argument, ...] = ()

    def description_for_clients(self) -> types.Prompt:
        arguments = [
            types.PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in self.arguments
        ]
        return types.Prompt(name=self.name, title=self.title, description=self.description, arguments=arguments)

    def fill(self, given: Mapping[str, str]) -> str:
        """Return the text with the arguments in their places. Raises InvalidInput."""
        known = {one.name for one in self.arguments}
        for name, value in given.items():
            if name not in known:
                raise InvalidInput(f"'{shorten(name)}' is not an argument of {self.name}. It takes: {', '.join(known)}")
            if len(value) > _LONGEST_ARGUMENT:
                raise InvalidInput(f"'{name}' has {len(value):,} characters; at most {_LONGEST_ARGUMENT} are taken")
        missing = [one.name for one in self.arguments if one.required and not given.get(one.name, "").strip()]
        if missing:
            raise InvalidInput(f"{self.name} needs {' and '.join(missing)}")
        filled = self.text
        for one in self.arguments:
            filled = filled.replace(f"{{{one.name}}}", " ".join(given.get(one.name, "").split()))
        return filled
