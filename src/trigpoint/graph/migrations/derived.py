# ruff: noqa: S608  every name in these statements is written in this file
"""Everything the database derives from its tables: counters, distinct texts, the index of titles; and a log that only grows.

On SQLite triggers run row by row, on PostgreSQL once for a whole statement, over all its rows.
"""

from __future__ import annotations

from sqlalchemy import Connection

_COUNTERS = {
    "entity_count": (
        "entity",
        {name: f"{{r}}.{name}" for name in ("project_id", "entity_type", "status")}
        | {"concept_kind": "coalesce({r}.concept_kind, '')"},
    ),
    "performance_count": (
        "search_performance",
        {name: f"{{r}}.{name}" for name in ("project_id", "date_start", "date_end")},
    ),
}
_TEXTS = {
    "search_query": ("search_performance", "query", "query_folded"),
    "search_page": ("search_performance", "page_url", "page_folded"),
    "block_topic": ("quotable_block", "topic_tag", "topic_folded"),
}
_TITLES_ON_SQLITE = (
    "CREATE VIRTUAL TABLE entity_pairs USING "
    "fts5(pairs, content='', detail='none', columnsize=0, tokenize='trigram case_sensitive 1')",
    "INSERT INTO entity_pairs (rowid, pairs) SELECT seq, graph_pairs(folded) FROM entity",
)
_TITLES_ON_POSTGRESQL = (
    "CREATE FUNCTION graph_pairs(folded text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ "
    'SELECT array_agg(DISTINCT a || b COLLATE "C") '
    "FROM (SELECT string_to_array(folded, NULL) c) t, unnest(c, c[2:]) p(a, b) $$",
    "CREATE INDEX ix_entity_pairs ON entity USING gin (graph_pairs(folded))",
)
_LARGE = 100_000
_SORTS = ("entity_type", "status", "concept_kind", "claim_type")


def counters(dialect: str) -> list[str]:
    return [
        statement
        for name, (table, key) in _COUNTERS.items()
        for statement in (_counter_on_sqlite if dialect == "sqlite" else _counter_on_postgresql)(name, table, key)
    ]


def _counter_on_sqlite(name: str, table: str, key: dict[str, str]) -> list[str]:
    old, new = ({column: value.format(r=row) for column, value in key.items()} for row in ("old", "new"))
    take = f"UPDATE {name} SET n = n - 1 WHERE {' AND '.join(f'{column} = {old[column]}' for column in key)};"
    add = (
        f"INSERT INTO {name} ({', '.join(key)}, n) VALUES ({', '.join(new.values())}, 1) "
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET n = n + 1;"
    )
    differs = " OR ".join(f"{old[column]} <> {new[column]}" for column in key)
    return [
        f"CREATE TRIGGER {name}_add AFTER INSERT ON {table} BEGIN {add} END",
        f"CREATE TRIGGER {name}_take AFTER DELETE ON {table} BEGIN {take} END",
        f"CREATE TRIGGER {name}_move AFTER UPDATE ON {table} WHEN {differs} BEGIN {take} {add} END",
    ]


def _counter_on_postgresql(name: str, table: str, key: dict[str, str]) -> list[str]:
    values = ", ".join(f"{value.format(r='r')} AS {column}" for column, value in key.items())
    grouped = f"SELECT {values}, count(*) AS n FROM {{}} r GROUP BY {', '.join(str(i + 1) for i in range(len(key)))}"
    same = " AND ".join(f"c.{column} = s.{column}" for column in key)
    take = f"UPDATE {name} c SET n = c.n - s.n FROM ({grouped.format('taken')}) s WHERE {same};"
    add = (
        f"INSERT INTO {name} AS c ({', '.join(key)}, n) {grouped.format('added')} "
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET n = c.n + excluded.n;"
    )
    return [
        *_after(name, "add", "INSERT", table, add, "NEW TABLE AS added"),
        *_after(name, "take", "DELETE", table, take, "OLD TABLE AS taken"),
        *_after(name, "move", "UPDATE", table, f"{take} {add}", "OLD TABLE AS taken NEW TABLE AS added"),
    ]


def _after(name: str, suffix: str, event: str, table: str, body: str, rows: str) -> list[str]:
    return [
        f"CREATE FUNCTION {name}_{suffix}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$",
        f"CREATE TRIGGER {name}_{suffix} AFTER {event} ON {table} REFERENCING {rows} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {name}_{suffix}()",
    ]


def texts_and_titles(dialect: str) -> list[str]:
    """A text stays when its last row goes: it is then one of which no row is found."""
    statements = []
    for name, (table, text, folded) in _TEXTS.items():
        into = f"INSERT INTO {name} (project_id, text, folded)"
        if dialect == "sqlite":
            add = f"BEGIN {into} VALUES (new.project_id, new.{text}, new.{folded}) ON CONFLICT DO NOTHING; END"
            for suffix, event in (("add", "INSERT"), ("move", f"UPDATE OF {text}")):
                known = f"WHEN new.{text} IS NOT NULL"
                statements.append(f"CREATE TRIGGER {name}_{suffix} AFTER {event} ON {table} {known} {add}")
        else:
            rows = f"SELECT DISTINCT project_id, {text}, {folded} FROM added WHERE {text} IS NOT NULL"
            for suffix, event in (("add", "INSERT"), ("move", "UPDATE")):
                add = f"{into} {rows} ON CONFLICT DO NOTHING;"
                statements += _after(name, suffix, event, table, add, "NEW TABLE AS added")
    return [*statements, *(_titles_on_sqlite() if dialect == "sqlite" else _TITLES_ON_POSTGRESQL)]


def _titles_on_sqlite() -> list[str]:
    """`graph_pairs` is a function of the store's connections, here and in PostgreSQL's index."""
    forget = (
        "INSERT INTO entity_pairs (entity_pairs, rowid, pairs) VALUES ('delete', old.seq, graph_pairs(old.folded));"
    )
    learn = "INSERT INTO entity_pairs (rowid, pairs) VALUES (new.seq, graph_pairs(new.folded));"
    return [
        *_TITLES_ON_SQLITE,
        f"CREATE TRIGGER entity_pairs_add AFTER INSERT ON entity BEGIN {learn} END",
        f"CREATE TRIGGER entity_pairs_take AFTER DELETE ON entity BEGIN {forget} END",
        f"CREATE TRIGGER entity_pairs_move AFTER UPDATE OF seq, folded ON entity BEGIN {forget} {learn} END",
    ]


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


def expect_large_projects(connection: Connection) -> None:
    """Tell SQLite's planner how large a project can be; PostgreSQL finds out by itself.

    Unless told, it takes any condition on an index to leave ten rows, and so reads a whole project to find five rows of it.
    """
    run = connection.exec_driver_sql
    run("ANALYZE project")
    run("DELETE FROM sqlite_stat1")
    for table in ("entity", "entity_relation", "search_performance", "quotable_block"):
        for (index,) in run(f"SELECT name FROM pragma_index_list('{table}')").all():
            numbers = [rows := _LARGE]
            for (column,) in run(f"SELECT name FROM pragma_index_info('{index}')"):
                rows = rows if column == "project_id" else rows // 4 if column in _SORTS else min(rows, 10)
                numbers.append(rows)
            run("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, " ".join(map(str, numbers))))
    run("ANALYZE sqlite_master")  # which makes this connection read them
