"""Many values as one parameter: `among(column, values)` is one statement, however many there are, on both databases."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import ARRAY, Boolean, ColumnElement, Text, TypeDecorator, bindparam, literal
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine


class Values(TypeDecorator[Any]):
    """An array on PostgreSQL, a JSON list on SQLite."""

    impl = Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(self.item) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return list(value) if dialect.name == "postgresql" else orjson.dumps(value).decode()


def values_named(name: str, item: TypeEngine[Any]) -> ColumnElement[Any]:
    """A parameter whose values are given when the statement runs."""
    return bindparam(name, type_=Values(item))


class Condition(FunctionElement[bool]):
    """A condition that stands in WHERE as it is written: `… = 1` behind it would keep SQLite from using an index."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:
        return self


class _Among(Condition):
    inherit_cache = True


def among(column: ColumnElement[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """The column has one of these values."""
    return _Among(column, literal(list(values), Values(column.type)))


def among_named(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The column has one of the values that are given by this name when the statement runs."""
    return _Among(column, values_named(name, column.type))


@compiles(_Among, "sqlite")
def _in_json(element: Any, compiler: Any, **kw: Any) -> str:
    column, values = element.clauses
    listed = f"SELECT value FROM json_each({compiler.process(values, **kw)})"  # noqa: S608  a bound parameter
    return f"{compiler.process(column, **kw)} IN ({listed})"


@compiles(_Among, "postgresql")
def _any(element: Any, compiler: Any, **kw: Any) -> str:
    column, values = element.clauses
    return f"{compiler.process(column, **kw)} = ANY ({compiler.process(values, **kw)})"
