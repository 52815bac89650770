"""The tables of the first release. New databases are made with today's tables at once, so there is nothing to do here.

Revision: 0002
"""

from __future__ import annotations

revision = "0002"
down_revision = None
branch_labels = None
depends_on = None
