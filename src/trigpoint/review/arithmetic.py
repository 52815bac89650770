"""Do a calculation again: plain arithmetic as a finding prints it (`127 + 7 = 134`, `99,005 / 200 = 495`)."""

from __future__ import annotations

import re

from trigpoint.review.findings import Calculation

_TOKEN = re.compile(r"\s*(?:([0-9][0-9,]*(?:\.[0-9]+)?)(\s?%)?|([-+*/x×÷()]))")


def holds(calculation: Calculation) -> bool:
    """Return whether each equation of the expression is right, as rounded as its right side is written."""
    equations = [part for part in calculation.expression.split(";") if "=" in part]
    return all(_equation_holds(part) for part in equations)


def _equation_holds(text: str) -> bool:
    sides = [side.strip() for side in text.split("=")]
    try:
        values = [evaluate(side) for side in sides]
    except ValueError:
        return False
    return all(_equal(values[0], value, side) for value, side in zip(values[1:], sides[1:], strict=True))


def _equal(exact: float, written: float, text: str) -> bool:
    """Compare as precisely as the right side is written: 88.2% means anything from 88.15% to 88.25%."""
    decimals = len(text.partition(".")[2].rstrip("% ")) + (2 if text.endswith("%") else 0)
    tolerance: float = 0.5 * 10**-decimals
    return abs(exact - written) <= tolerance + 1e-9


def evaluate(text: str) -> float:
    """Return the value of sums, differences, products and quotients with brackets. Raise ValueError for anything else."""
    tokens: list[float | str] = []
    at = 0
    stripped = text.strip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise ValueError(f"this is not arithmetic: {text}")
        if match[1]:
            tokens.append(float(match[1].replace(",", "")) / (100 if match[2] else 1))
        else:
            tokens.append({"x": "*", "×": "*", "÷": "/"}.get(match[3], match[3]))
        at = match.end()
    value, rest = _sum(tokens)
    if rest:
        raise ValueError(f"this is not arithmetic: {text}")
    return value


def _sum(tokens: list[float | str]) -> tuple[float, list[float | str]]:
    value, rest = _product(tokens)
    while rest and rest[0] in ("+", "-"):
        sign = 1 if rest[0] == "+" else -1
        following, rest = _product(rest[1:])
        value += sign * following
    return value, rest


def _product(tokens: list[float | str]) -> tuple[float, list[float | str]]:
    value, rest = _term(tokens)
    while rest and rest[0] in ("*", "/"):
        following, after = _term(rest[1:])
        if rest[0] == "/" and following == 0:
            raise ValueError("division by zero")
        value, rest = (value * following if rest[0] == "*" else value / following), after
    return value, rest


def _term(tokens: list[float | str]) -> tuple[float, list[float | str]]:
    if not tokens:
        raise ValueError("a number is missing")
    if tokens[0] == "(":
        value, rest = _sum(tokens[1:])
        if not rest or rest[0] != ")":
            raise ValueError("a bracket is missing")
        return value, rest[1:]
    if isinstance(tokens[0], str):
        raise ValueError("a number is missing")
    return tokens[0], tokens[1:]
