# ruff: noqa: S608  every name in these statements is written in the migrations
"""Statements that make triggers: counters that follow every insert, change and deletion, and a log that only grows.

A counter is a table with the key columns and `n`. On SQLite its triggers run row by row, on PostgreSQL once for a whole
statement, over all its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Counter:
    """The counter's key columns, and others that follow from them: each an expression over a row `{r}` that is counted."""

    name: str
    counted: str
    key: dict[str, str]
    carried: dict[str, str] = field(default_factory=dict)

    def statements(self, dialect: str) -> list[str]:
        return self._on_sqlite() if dialect == "sqlite" else self._on_postgresql()

    def filling(self) -> str:
        """Counts what is there already."""
        return f"INSERT INTO {self.name} ({self._columns}, n) {self._grouped(self.counted)}"

    @property
    def _columns(self) -> str:
        return ", ".join(self.key | self.carried)

    def _on_sqlite(self) -> list[str]:
        old, new = ({c: e.format(r=row) for c, e in (self.key | self.carried).items()} for row in ("old", "new"))
        take = f"UPDATE {self.name} SET n = n - 1 WHERE {' AND '.join(f'{c} = {old[c]}' for c in self.key)};"
        add = (
            f"INSERT INTO {self.name} ({self._columns}, n) VALUES ({', '.join(new.values())}, 1) "
            f"ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET n = n + 1;"
        )
        differs = " OR ".join(f"{old[c]} <> {new[c]}" for c in self.key)
        return [
            f"CREATE TRIGGER {self.name}_add AFTER INSERT ON {self.counted} BEGIN {add} END",
            f"CREATE TRIGGER {self.name}_take AFTER DELETE ON {self.counted} BEGIN {take} END",
            f"CREATE TRIGGER {self.name}_move AFTER UPDATE ON {self.counted} WHEN {differs} BEGIN {take} {add} END",
        ]

    def _on_postgresql(self) -> list[str]:
        same = " AND ".join(f"c.{column} = s.{column}" for column in self.key)
        take = f"UPDATE {self.name} c SET n = c.n - s.n FROM ({self._grouped('taken')}) s WHERE {same};"
        add = (
            f"INSERT INTO {self.name} AS c ({self._columns}, n) {self._grouped('added')} "
            f"ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET n = c.n + excluded.n;"
        )
        return statement_triggers(self.name, self.counted, add=add, take=take, move=f"{take} {add}")

    def _grouped(self, rows: str) -> str:
        every = self.key | self.carried
        values = ", ".join(f"{e.format(r='r')} AS {column}" for column, e in every.items())
        return (
            f"SELECT {values}, count(*) AS n FROM {rows} r GROUP BY {', '.join(str(i + 1) for i in range(len(every)))}"
        )


def statement_triggers(name: str, table: str, *, add: str, take: str, move: str) -> list[str]:
    """PostgreSQL: what follows a whole statement; its rows stand in `added` and `taken`."""
    statements = []
    for suffix, when, body, tables in (
        ("add", "INSERT", add, "NEW TABLE AS added"),
        ("take", "DELETE", take, "OLD TABLE AS taken"),
        ("move", "UPDATE", move, "OLD TABLE AS taken NEW TABLE AS added"),
    ):
        statements += [
            f"CREATE FUNCTION {name}_{suffix}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$",
            f"CREATE TRIGGER {name}_{suffix} AFTER {when} ON {table} REFERENCING {tables} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}_{suffix}()",
        ]
    return statements


def append_only(table: str, dialect: str) -> list[str]:
    if dialect == "sqlite":
        return [
            f"CREATE TRIGGER {table}_{what.lower()} BEFORE {what} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            for what in ("UPDATE", "DELETE")
        ]
    return [
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{table} is append-only'; END $$",
        f"CREATE TRIGGER {table}_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()",
    ]
