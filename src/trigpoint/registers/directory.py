"""The open registers of a process: one object for each authority, so that all callers share its turn and its session."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from trigpoint.config import Settings
from trigpoint.registers.atrium import AtriumRegister
from trigpoint.registers.entries import RegisterTable, load_registers
from trigpoint.registers.idox import IdoxRegister
from trigpoint.registers.register import WebRegister
from trigpoint.registers.site import MAX_DOCUMENT_BYTES

_SOFTWARE: dict[str, Callable[..., WebRegister]] = {"atrium": AtriumRegister, "idox": IdoxRegister}


class Directory:
    """Opens registers when they are first asked for. Use as an async context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.table: RegisterTable = load_registers(settings)
        self._open: dict[str, WebRegister] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for register in self._open.values():
            await register.site.close()

    def get(self, authority: str | None = None) -> WebRegister:
        """Return an authority's register; without a name the default one. Raises UnknownAuthority."""
        entry = self.table.get(authority)
        if entry.authority not in self._open:
            self._open[entry.authority] = open_register(self._settings, entry.authority)
        return self._open[entry.authority]


def open_register(
    settings: Settings, authority: str | None = None, *, max_document_bytes: int = MAX_DOCUMENT_BYTES
) -> WebRegister:
    """Return a new register, to be used as an async context manager. Raises UnknownAuthority."""
    entry = load_registers(settings).get(authority)
    entry.require_readable()
    return _SOFTWARE[entry.software](entry, settings, max_document_bytes=max_document_bytes)
