"""Titles are indexed by pairs; distinct texts are no longer counted; block counts and narrow copies of titles go.

Revision: 0003
"""

from __future__ import annotations

from alembic import op

from trigpoint.graph.migrations.derived import expect_large_projects, texts_and_titles

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TEXTS = ("search_query", "search_page", "block_topic")
FORMER = ("block_count", "entity_text", *TEXTS)


def upgrade() -> None:
    connection = op.get_bind()
    dialect, run = connection.dialect.name, connection.exec_driver_sql
    for name in FORMER:
        for suffix in ("add", "take", "move"):
            trigger, function = f"DROP TRIGGER {name}_{suffix}", f"DROP FUNCTION {name}_{suffix}() CASCADE"
            run(trigger if dialect == "sqlite" else function)
    if dialect == "sqlite":
        run("DROP TRIGGER entity_gram_move")
        run("DROP TABLE entity_gram")
    op.drop_table("block_count")
    op.drop_table("entity_text")
    if dialect != "sqlite":
        run("DROP FUNCTION graph_grams(uuid, text)")
    for name in TEXTS:
        run(f"DELETE FROM {name} WHERE n = 0 OR text = ''")  # noqa: S608  names of this file
        run(f"ALTER TABLE {name} DROP COLUMN n")
    run("DROP INDEX ix_search_performance_entity")
    run(
        "CREATE INDEX ix_search_performance_entity "
        "ON search_performance (project_id, entity_id, date_start DESC, date_end DESC)"
    )
    for statement in texts_and_titles(dialect):
        run(statement)
    if dialect == "sqlite":
        expect_large_projects(connection)
