"""Trigpoint: an evidence engine for planning and research."""

import os

__version__ = "0.2.0"

# numpy's products use one thread each, unless the operator says otherwise: they take a tenth of a millisecond, and a second
# thread that has to wait for a busy core makes a search take six. Read when numpy is imported, so it is set before that.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
