"""Forms on a register's pages: what a browser would send, and the disclaimer that some councils put before the register."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.registers.labels import plain

_BUTTONS = ("submit", "button", "image", "reset")
_ACCEPTING = re.compile(r"\b(?:accept|agree|continue|proceed)\b", re.IGNORECASE)
_WARNING = re.compile(r"\b(?:disclaimer|copyright|terms (?:and|&) conditions|terms of use)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """The address that a form is sent to, and the values that it has before anybody fills it in."""

    action: str
    fields: Mapping[str, str]
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of each list: what it shows, and its value

    def list_called(self, word: str) -> str | None:
        """Return the name of the first list to choose from whose name ends with a word."""
        return next((name for name in self.choices if name.casefold().endswith(word)), None)


def form_to(page: LexborHTMLParser, action_part: str) -> Form | None:
    """Return the first form whose action contains a text."""
    for form in page.css("form"):
        action = form.attributes.get("action") or ""
        if action_part.casefold() in action.casefold():
            return Form(action, _fields_of_form(form), _choices(form))
    return None


def disclaimer_form(page: LexborHTMLParser) -> Form | None:
    """Return the form that accepts a disclaimer, if the page is about one: a posted form with a button to accept it."""
    if not _WARNING.search(plain(page.css_first("title, h1, h2")) + " " + plain(page.css_first("form"))):
        return None
    for form in page.css("form"):
        button = next((one for one in form.css("input, button") if _ACCEPTING.search(_caption(one))), None)
        posted = (form.attributes.get("method") or "").lower() == "post"
        if button is not None and posted and "search" not in (form.attributes.get("action") or "").lower():
            pressed = {name: button.attributes.get("value") or ""} if (name := button.attributes.get("name")) else {}
            return Form(form.attributes.get("action") or "", _fields_of_form(form) | pressed)
    return None


def _caption(button: LexborNode) -> str:
    if button.tag == "input" and (button.attributes.get("type") or "").lower() not in ("submit", "button"):
        return ""
    return f"{button.attributes.get('value') or ''} {plain(button)}"


def _fields_of_form(form: LexborNode) -> dict[str, str]:
    fields: dict[str, str] = {}
    for one in form.css("input, select, textarea"):
        name, kind = one.attributes.get("name"), (one.attributes.get("type") or "text").lower()
        if not name or kind in _BUTTONS or kind == "file":
            continue
        if kind in ("checkbox", "radio") and "checked" not in one.attributes:
            continue
        fields.setdefault(name, _value(one, kind))
    return fields


def _choices(form: LexborNode) -> dict[str, dict[str, str]]:
    lists = {name: one for one in form.css("select") if (name := one.attributes.get("name"))}
    return {name: {plain(option): _option_value(option) for option in one.css("option")} for name, one in lists.items()}


def _option_value(option: LexborNode) -> str:
    value = option.attributes.get("value", "") if "value" in option.attributes else plain(option)
    return value or ""


def _value(node: LexborNode, kind: str) -> str:
    if node.tag == "select":
        options = node.css("option")
        chosen = next((one for one in options if "selected" in one.attributes), options[0] if options else None)
        return "" if chosen is None else chosen.attributes.get("value") or ""
    if node.tag == "textarea":
        return node.text()
    return node.attributes.get("value") or ("on" if kind in ("checkbox", "radio") else "")
