# ruff: noqa: S608  every name in these statements is written in this file
"""Text filters read narrow tables that triggers keep; search rows lie by their key and refer to no dictionary.

Revision: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from trigpoint.graph.migrations.triggers import Counter, statement_triggers

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.Uuid(as_uuid=False).with_variant(sa.Text(), "sqlite")
SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DICTIONARIES = tuple(
    Counter(name, counted, {"project_id": "{r}.project_id", "text": own}, {"folded": folded})
    for name, counted, own, folded in (
        ("search_query", "search_performance", "{r}.query", "{r}.query_folded"),
        ("search_page", "search_performance", "{r}.page_url", "{r}.page_folded"),
        ("block_topic", "quotable_block", "coalesce({r}.topic_tag, '')", "coalesce({r}.topic_folded, '')"),
    )
)
PERIODS = Counter(
    "performance_count",
    "search_performance",
    {"project_id": "{r}.project_id", "date_start": "{r}.date_start", "date_end": "{r}.date_end"},
)
KEY = ("project_id", "query", "date_start", "date_end", "page_url")
FORMER_KEY = "uq_search_performance_project_id_query_page_url_date_st_4fbb"  # as PostgreSQL's 63 characters allow
ENTITY_TEXT = ("seq", "project_id", "entity_type", "status", "concept_kind", "created_at", "id", "folded")
GRAMS = """
CREATE FUNCTION graph_grams(project uuid, folded text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT project::text || substr(part, place, size) COLLATE "C")
    FROM unnest(string_to_array(folded, chr(10))) part, generate_series(2, 3) size,
         generate_series(1, length(part) - size + 1) place
$$
"""


def upgrade() -> None:
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    drop_triggers_of_dictionaries(on_sqlite)
    (search_performance_on_sqlite if on_sqlite else search_performance_on_postgresql)()
    op.drop_table("search_query")
    op.drop_table("search_page")
    (drop_grams_on_sqlite if on_sqlite else drop_grams_on_postgresql)()
    create_indexes()
    create_dictionaries(on_sqlite)
    create_entity_text()
    _run(*(entity_text_on_sqlite() if on_sqlite else entity_text_on_postgresql()))


def _run(*statements: str) -> None:
    for statement in statements:
        op.get_bind().exec_driver_sql(statement)


def drop_triggers_of_dictionaries(on_sqlite: bool) -> None:
    for name in ("search_query", "search_page"):
        for suffix in ("add", "take", "move"):
            if on_sqlite:
                _run(f"DROP TRIGGER IF EXISTS {name}_{suffix}")
            else:
                _run(f"DROP FUNCTION IF EXISTS {name}_{suffix}() CASCADE")


def search_performance_on_sqlite() -> None:
    """A key or a constraint of SQLite changes by making the table anew; triggers and indexes go with the old one.

    A period is counted only for a project that exists, so that not every row has to be checked for that.
    """
    _run("ALTER TABLE search_performance RENAME TO search_performance_before")
    op.create_table(
        "search_performance",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("entity_id", ID, nullable=True),
        *(sa.Column(name, SORTED, nullable=False) for name in ("page_url", "query", "page_folded", "query_folded")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("impressions", "clicks")),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("ctr", "avg_position")),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("date_start", "date_end", "captured_at")),
        sa.CheckConstraint("avg_position > 0", name=op.f("ck_search_performance_avg_position")),
        sa.CheckConstraint("clicks >= 0 AND clicks <= impressions", name=op.f("ck_search_performance_clicks")),
        sa.CheckConstraint("ctr >= 0 AND ctr <= 1", name=op.f("ck_search_performance_ctr")),
        sa.CheckConstraint("date_start <= date_end", name=op.f("ck_search_performance_period")),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entity.project_id", "entity.id"],
            name=op.f("fk_search_performance_project_id_entity_id"),
        ),
        sa.PrimaryKeyConstraint(*KEY, name=op.f("pk_search_performance")),
    )
    _run(
        "INSERT INTO search_performance SELECT * FROM search_performance_before",
        "DROP TABLE search_performance_before",
        "ALTER TABLE performance_count RENAME TO performance_count_before",
    )
    op.create_table(
        "performance_count",
        sa.Column("project_id", ID, nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("date_start", "date_end", "n")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_performance_count_project_id")),
        sa.PrimaryKeyConstraint("project_id", "date_start", "date_end", name=op.f("pk_performance_count")),
    )
    _run(
        "INSERT INTO performance_count SELECT * FROM performance_count_before",
        "DROP TABLE performance_count_before",
        *PERIODS.statements("sqlite"),
    )


def search_performance_on_postgresql() -> None:
    for columns in ("project_id", "project_id_query", "project_id_page_url"):
        op.drop_constraint(f"fk_search_performance_{columns}", "search_performance")
    op.create_foreign_key(
        op.f("fk_performance_count_project_id"), "performance_count", "project", ["project_id"], ["id"]
    )
    for name in ("query", "page_url", "order", "entity"):
        op.drop_index(f"ix_search_performance_{name}", "search_performance")
    _run(
        "ALTER TABLE search_performance DROP CONSTRAINT pk_search_performance",
        f"ALTER TABLE search_performance ADD CONSTRAINT pk_search_performance PRIMARY KEY ({', '.join(KEY)})",
        f'ALTER TABLE search_performance DROP CONSTRAINT "{FORMER_KEY}"',
    )


def drop_grams_on_sqlite() -> None:
    _run(
        *(f"DROP TRIGGER IF EXISTS entity_gram_{suffix}" for suffix in ("add", "take", "move")),
        "DROP TABLE IF EXISTS entity_gram",
        "DROP INDEX ix_entity_text",
        "ALTER TABLE entity DROP COLUMN grams",
    )


def drop_grams_on_postgresql() -> None:
    op.drop_index("ix_entity_text", "entity")
    op.drop_column("entity", "grams")


def create_indexes() -> None:
    _run(
        "CREATE INDEX ix_search_performance_order "
        "ON search_performance (project_id, date_start DESC, date_end DESC, query, page_url)",
        "CREATE INDEX ix_search_performance_page "
        "ON search_performance (project_id, page_url, date_start, date_end, query)",
        "CREATE INDEX ix_search_performance_entity ON search_performance (entity_id, date_start DESC, date_end DESC)",
    )
    op.drop_index("ix_quotable_block_topic", "quotable_block")
    op.create_index("ix_quotable_block_topic", "quotable_block", ["project_id", "topic_tag", "created_at", "id"])


def create_dictionaries(on_sqlite: bool) -> None:
    for counter in DICTIONARIES:
        op.create_table(
            counter.name,
            sa.Column("project_id", ID, nullable=False),
            sa.Column("text", SORTED, nullable=False),
            sa.Column("folded", SORTED, nullable=False),
            sa.Column("n", sa.BigInteger(), nullable=False),
            sa.PrimaryKeyConstraint("project_id", "text", name=op.f(f"pk_{counter.name}")),
            sqlite_with_rowid=False,
        )
        _run(counter.filling(), *counter.statements("sqlite" if on_sqlite else "postgresql"))


def create_entity_text() -> None:
    op.create_table(
        "entity_text",
        sa.Column("seq", NUMBER, autoincrement=False, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("concept_kind", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("folded", SORTED, nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_entity_text")),
    )
    _run(f"INSERT INTO entity_text ({', '.join(ENTITY_TEXT)}) SELECT {', '.join(ENTITY_TEXT)} FROM entity")


def entity_text_on_sqlite() -> list[str]:
    """The grams are words of a contentless FTS5 table; `graph_grams` is a function of the store's connections."""
    columns = ", ".join(ENTITY_TEXT)
    changed = ", ".join(f"{column} = new.{column}" for column in ENTITY_TEXT)
    forget = "INSERT INTO entity_gram (entity_gram, rowid, grams) VALUES ('delete', old.seq, graph_grams(old.project_id, old.folded));"
    learn = "INSERT INTO entity_gram (rowid, grams) VALUES (new.seq, graph_grams(new.project_id, new.folded));"
    return [
        "CREATE VIRTUAL TABLE entity_gram USING fts5(grams, content='', detail='none', columnsize=0, tokenize='ascii')",
        "INSERT INTO entity_gram (rowid, grams) SELECT seq, graph_grams(project_id, folded) FROM entity",
        f"CREATE TRIGGER entity_text_add AFTER INSERT ON entity BEGIN INSERT INTO entity_text ({columns}) "
        f"VALUES ({', '.join(f'new.{column}' for column in ENTITY_TEXT)}); {learn} END",
        "CREATE TRIGGER entity_text_take AFTER DELETE ON entity "
        f"BEGIN DELETE FROM entity_text WHERE seq = old.seq; {forget} END",
        "CREATE TRIGGER entity_text_move AFTER UPDATE ON entity "
        f"BEGIN UPDATE entity_text SET {changed} WHERE seq = old.seq; END",
        "CREATE TRIGGER entity_gram_move AFTER UPDATE ON entity "
        f"WHEN old.folded <> new.folded OR old.project_id <> new.project_id OR old.seq <> new.seq BEGIN {forget} {learn} END",
    ]


def entity_text_on_postgresql() -> list[str]:
    columns = ", ".join(ENTITY_TEXT)
    changed = ", ".join(f"{column} = a.{column}" for column in ENTITY_TEXT[1:])
    return [
        GRAMS,
        "CREATE INDEX ix_entity_gram ON entity_text USING gin (graph_grams(project_id, folded))",
        *statement_triggers(
            "entity_text",
            "entity",
            add=f"INSERT INTO entity_text ({columns}) SELECT {columns} FROM added;",
            take="DELETE FROM entity_text t USING taken WHERE t.seq = taken.seq;",
            move=f"UPDATE entity_text t SET {changed} FROM added a WHERE t.seq = a.seq;",
        ),
    ]
