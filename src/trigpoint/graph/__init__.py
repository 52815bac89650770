"""The graph: projects, entities, their relations, search evidence and quotable blocks, in SQL."""
