# ruff: noqa: S608  every name in these statements is written in this file
"""Everything the database derives from its tables, by triggers: counters, the text that is searched, a log that only grows.

On SQLite triggers run row by row, on PostgreSQL once for a whole statement, over all its rows.
"""

from __future__ import annotations

from sqlalchemy import Connection

# A counter: what it counts, its key, and columns that follow from the key, as expressions over a row `{r}`.
_COUNTERS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "entity_count": (
        "entity",
        {name: f"{{r}}.{name}" for name in ("project_id", "entity_type", "status")}
        | {"concept_kind": "coalesce({r}.concept_kind, '')"},
        {},
    ),
    "performance_count": (
        "search_performance",
        {name: f"{{r}}.{name}" for name in ("project_id", "date_start", "date_end")},
        {},
    ),
    **{
        name: (counted, {"project_id": "{r}.project_id", "text": text}, {"folded": folded})
        for name, counted, text, folded in (
            ("search_query", "search_performance", "{r}.query", "{r}.query_folded"),
            ("search_page", "search_performance", "{r}.page_url", "{r}.page_folded"),
            ("block_topic", "quotable_block", "coalesce({r}.topic_tag, '')", "coalesce({r}.topic_folded, '')"),
        )
    },
}
_ENTITY_TEXT = ("seq", "project_id", "entity_type", "status", "concept_kind", "created_at", "id", "folded")
GRAMS = """
CREATE OR REPLACE FUNCTION graph_grams(project uuid, folded text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT project::text || gram COLLATE "C")
    FROM unnest(string_to_array(folded, chr(10))) part, string_to_array(part, NULL) c,
         unnest(c, c[2:], c[3:]) p(x, y, z), LATERAL (VALUES (x || y), (x || y || z)) g(gram)
    WHERE gram IS NOT NULL
$$
"""
_LARGE = 100_000
_SORTS = ("entity_type", "status", "concept_kind", "claim_type")


def derived(dialect: str) -> list[str]:
    """Return the statements that make it all, in a database that has the tables."""
    counter, text, log = (
        (_counter_on_sqlite, _text_on_sqlite, _append_only_on_sqlite)
        if dialect == "sqlite"
        else (_counter_on_postgresql, _text_on_postgresql, _append_only_on_postgresql)
    )
    counters = [statement for name in _COUNTERS for statement in counter(name, *_COUNTERS[name])]
    return [*counters, *text(), *log("event_log")]


def _counter_on_sqlite(name: str, counted: str, key: dict[str, str], carried: dict[str, str]) -> list[str]:
    old, new = ({column: value.format(r=row) for column, value in (key | carried).items()} for row in ("old", "new"))
    take = f"UPDATE {name} SET n = n - 1 WHERE {' AND '.join(f'{column} = {old[column]}' for column in key)};"
    add = (
        f"INSERT INTO {name} ({', '.join(new)}, n) VALUES ({', '.join(new.values())}, 1) "
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET n = n + 1;"
    )
    differs = " OR ".join(f"{old[column]} <> {new[column]}" for column in key)
    return [
        f"CREATE TRIGGER {name}_add AFTER INSERT ON {counted} BEGIN {add} END",
        f"CREATE TRIGGER {name}_take AFTER DELETE ON {counted} BEGIN {take} END",
        f"CREATE TRIGGER {name}_move AFTER UPDATE ON {counted} WHEN {differs} BEGIN {take} {add} END",
    ]


def _counter_on_postgresql(name: str, counted: str, key: dict[str, str], carried: dict[str, str]) -> list[str]:
    every = key | carried
    values = ", ".join(f"{value.format(r='r')} AS {column}" for column, value in every.items())
    grouped = f"SELECT {values}, count(*) AS n FROM {{}} r GROUP BY {', '.join(str(i + 1) for i in range(len(every)))}"
    same = " AND ".join(f"c.{column} = s.{column}" for column in key)
    take = f"UPDATE {name} c SET n = c.n - s.n FROM ({grouped.format('taken')}) s WHERE {same};"
    add = (
        f"INSERT INTO {name} AS c ({', '.join(every)}, n) {grouped.format('added')} "
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET n = c.n + excluded.n;"
    )
    return _statement_triggers(name, counted, add=add, take=take, move=f"{take} {add}")


def _statement_triggers(name: str, table: str, *, add: str, take: str, move: str) -> list[str]:
    """Return PostgreSQL's triggers after a whole statement, whose rows are in `added` and `taken`."""
    return [
        statement
        for suffix, when, body, tables in (
            ("add", "INSERT", add, "NEW TABLE AS added"),
            ("take", "DELETE", take, "OLD TABLE AS taken"),
            ("move", "UPDATE", move, "OLD TABLE AS taken NEW TABLE AS added"),
        )
        for statement in (
            f"CREATE FUNCTION {name}_{suffix}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$",
            f"CREATE TRIGGER {name}_{suffix} AFTER {when} ON {table} REFERENCING {tables} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}_{suffix}()",
        )
    ]


def _text_on_sqlite() -> list[str]:
    """Return the statements for searching text on SQLite: the grams are words of a contentless FTS5 table.

    `graph_grams` is a function of the store's connections.
    """
    columns, values = ", ".join(_ENTITY_TEXT), ", ".join(f"new.{column}" for column in _ENTITY_TEXT)
    changed = ", ".join(f"{column} = new.{column}" for column in _ENTITY_TEXT)
    forget = "INSERT INTO entity_gram (entity_gram, rowid, grams) VALUES ('delete', old.seq, graph_grams(old.project_id, old.folded));"
    learn = "INSERT INTO entity_gram (rowid, grams) VALUES (new.seq, graph_grams(new.project_id, new.folded));"
    moved = "old.folded <> new.folded OR old.project_id <> new.project_id OR old.seq <> new.seq"
    return [
        "CREATE VIRTUAL TABLE entity_gram USING fts5(grams, content='', detail='none', columnsize=0, tokenize='ascii')",
        "CREATE TRIGGER entity_text_add AFTER INSERT ON entity "
        f"BEGIN INSERT INTO entity_text ({columns}) VALUES ({values}); {learn} END",
        "CREATE TRIGGER entity_text_take AFTER DELETE ON entity "
        f"BEGIN DELETE FROM entity_text WHERE seq = old.seq; {forget} END",
        "CREATE TRIGGER entity_text_move AFTER UPDATE ON entity "
        f"BEGIN UPDATE entity_text SET {changed} WHERE seq = old.seq; END",
        f"CREATE TRIGGER entity_gram_move AFTER UPDATE ON entity WHEN {moved} BEGIN {forget} {learn} END",
    ]


def _text_on_postgresql() -> list[str]:
    columns, changed = ", ".join(_ENTITY_TEXT), ", ".join(f"{column} = a.{column}" for column in _ENTITY_TEXT[1:])
    return [
        GRAMS,
        "CREATE INDEX ix_entity_gram ON entity_text USING gin (graph_grams(project_id, folded))",
        *_statement_triggers(
            "entity_text",
            "entity",
            add=f"INSERT INTO entity_text ({columns}) SELECT {columns} FROM added;",
            take="DELETE FROM entity_text t USING taken WHERE t.seq = taken.seq;",
            move=f"UPDATE entity_text t SET {changed} FROM added a WHERE t.seq = a.seq;",
        ),
    ]


def _append_only_on_sqlite(table: str) -> list[str]:
    return [
        f"CREATE TRIGGER {table}_{what.lower()} BEFORE {what} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        for what in ("UPDATE", "DELETE")
    ]


def _append_only_on_postgresql(table: str) -> list[str]:
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
                if column != "project_id":
                    rows = rows // 4 if column in _SORTS else min(rows, 10)
                numbers.append(rows)
            run("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, " ".join(map(str, numbers))))
    run("ANALYZE sqlite_master")  # which makes this connection read them
