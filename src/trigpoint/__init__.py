"""Trigpoint: an evidence engine for planning and research."""

__version__ = "0.1.0"
