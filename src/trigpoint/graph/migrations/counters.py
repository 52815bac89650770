# ruff: noqa: S608  every name in these statements is written in this file
"""Triggers of the first migration: counters that follow every insert, change and deletion; a log that only grows.

One statement each on SQLite; on PostgreSQL they run once for a whole statement, over all its rows.
"""

from __future__ import annotations

_COUNTERS: tuple[tuple[str, str, dict[str, str]], ...] = (
    # counted table, counter, the counter's key columns from a row of the counted table
    (
        "entity",
        "entity_count",
        {
            "project_id": "{r}.project_id",
            "entity_type": "{r}.entity_type",
            "status": "{r}.status",
            "concept_kind": "coalesce({r}.concept_kind, '')",
        },
    ),
    (
        "search_performance",
        "performance_count",
        {"project_id": "{r}.project_id", "date_start": "{r}.date_start", "date_end": "{r}.date_end"},
    ),
    ("quotable_block", "block_count", {"project_id": "{r}.project_id", "claim_type": "{r}.claim_type"}),
    ("search_performance", "search_query", {"project_id": "{r}.project_id", "text": "{r}.query"}),
    ("search_performance", "search_page", {"project_id": "{r}.project_id", "text": "{r}.page_url"}),
)
_DICTIONARIES = ("search_query", "search_page")  # their rows are there before what they count


def sqlite_statements() -> list[str]:
    statements = []
    for table, counter, key in _COUNTERS:
        add, take = _sqlite_change(counter, key, "new", "+"), _sqlite_change(counter, key, "old", "-")
        statements += [
            f"CREATE TRIGGER {counter}_add AFTER INSERT ON {table} BEGIN {add} END",
            f"CREATE TRIGGER {counter}_take AFTER DELETE ON {table} BEGIN {take} END",
            f"CREATE TRIGGER {counter}_move AFTER UPDATE ON {table} WHEN {_differs(key)} BEGIN {take} {add} END",
        ]
    statements += [
        "CREATE VIRTUAL TABLE entity_gram USING fts5("
        "grams, content='entity', content_rowid='seq', detail='none', columnsize=0, tokenize='ascii')",
        "CREATE TRIGGER entity_gram_add AFTER INSERT ON entity BEGIN "
        "INSERT INTO entity_gram (rowid, grams) VALUES (new.seq, new.grams); END",
        "CREATE TRIGGER entity_gram_take AFTER DELETE ON entity BEGIN "
        "INSERT INTO entity_gram (entity_gram, rowid, grams) VALUES ('delete', old.seq, old.grams); END",
        "CREATE TRIGGER entity_gram_move AFTER UPDATE ON entity WHEN old.grams <> new.grams BEGIN "
        "INSERT INTO entity_gram (entity_gram, rowid, grams) VALUES ('delete', old.seq, old.grams); "
        "INSERT INTO entity_gram (rowid, grams) VALUES (new.seq, new.grams); END",
    ]
    statements += [
        f"CREATE TRIGGER event_log_{what.lower()} BEFORE {what} ON event_log "
        "BEGIN SELECT RAISE(ABORT, 'event_log is append-only'); END"
        for what in ("UPDATE", "DELETE")
    ]
    return statements


def _sqlite_change(counter: str, key: dict[str, str], row: str, sign: str) -> str:
    values = {column: expression.format(r=row) for column, expression in key.items()}
    matches = " AND ".join(f"{column} = {value}" for column, value in values.items())
    update = f"UPDATE {counter} SET n = n {sign} 1 WHERE {matches};"
    if sign == "-" or counter in _DICTIONARIES:
        return update
    return (
        f"INSERT INTO {counter} ({', '.join(values)}, n) VALUES ({', '.join(values.values())}, 1) "
        f"ON CONFLICT ({', '.join(values)}) DO UPDATE SET n = n + 1;"
    )


def _differs(key: dict[str, str]) -> str:
    return " OR ".join(f"{e.format(r='old')} <> {e.format(r='new')}" for e in key.values())


def postgresql_statements() -> list[str]:
    statements = []
    for table, counter, key in _COUNTERS:
        add, take = _postgresql_change(counter, key, "added", "+"), _postgresql_change(counter, key, "taken", "-")
        for name, when, body, tables in (
            ("add", "INSERT", add, "NEW TABLE AS added"),
            ("take", "DELETE", take, "OLD TABLE AS taken"),
            ("move", "UPDATE", f"{take} {add}", "OLD TABLE AS taken NEW TABLE AS added"),
        ):
            statements += [
                f"CREATE FUNCTION {counter}_{name}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN {body} RETURN NULL; END $$",
                f"CREATE TRIGGER {counter}_{name} AFTER {when} ON {table} REFERENCING {tables} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {counter}_{name}()",
            ]
    return [
        *statements,
        "CREATE INDEX ix_entity_grams ON entity USING gin (grams)",
        "CREATE FUNCTION event_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'event_log is append-only'; END $$",
        "CREATE TRIGGER event_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON event_log "
        "FOR EACH STATEMENT EXECUTE FUNCTION event_log_is_append_only()",
    ]


def _postgresql_change(counter: str, key: dict[str, str], rows: str, sign: str) -> str:
    values = {column: expression.format(r="r") for column, expression in key.items()}
    counted = (
        f"SELECT {', '.join(f'{v} AS {c}' for c, v in values.items())}, count(*) AS d FROM {rows} r "
        f"GROUP BY {', '.join(str(i + 1) for i in range(len(values)))}"
    )
    if sign == "-" or counter in _DICTIONARIES:
        matches = " AND ".join(f"c.{column} = s.{column}" for column in values)
        return f"UPDATE {counter} c SET n = c.n {sign} s.d FROM ({counted}) s WHERE {matches};"
    columns = ", ".join(values)
    return (
        f"INSERT INTO {counter} AS c ({columns}, n) {counted} "
        f"ON CONFLICT ({columns}) DO UPDATE SET n = c.n + excluded.n;"
    )
