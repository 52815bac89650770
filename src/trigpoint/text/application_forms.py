"""Recognises application forms by their name, or by their headings if the name says nothing."""

from __future__ import annotations

import re

_HEAD = 4_000  # characters in which a form shows its title and first sections

_NAME = re.compile(r"(?<![a-z])(?:app(?:lication)?[ -]?forms?|1 ?app)(?![a-z])", re.IGNORECASE)
_ASKING = r"\b(?:application for|notification (?:for|of)|householder application)\b"
_ASKED_FOR = r"\b(?:permission|consent|approval|reserved matters|certificate|conditions?)\b"
_TITLE = re.compile(rf"{_ASKING}[^.]{{0,120}}?{_ASKED_FOR}", re.IGNORECASE)
_PEOPLE = re.compile(
    r"^\W*(?:\d{1,2}\.?[ \t]*)?(?:applicant|agent)(?:'s)?[ \t]*(?:details|name)\b", re.IGNORECASE | re.MULTILINE
)
_NOTICE = re.compile(r"\bnotice under article \d+\b", re.IGNORECASE)  # to owners, with the applicant's name and address


def is_form_name(name: str) -> bool:
    """Return whether a file's name, or its category in a register, is that of an application form."""
    return _NAME.search(name.replace("_", " ")) is not None


def is_application_form(name: str, text: str) -> bool:
    """Return whether a document is an application form, or the notice to owners that goes with one.

    It is called so, or has a form's title and the section of the applicant or the agent.
    """
    head = text[:_HEAD]
    titled = _TITLE.search(head) is not None and _PEOPLE.search(head) is not None
    return is_form_name(name) or titled or _NOTICE.search(head) is not None
