"""Trigpoint: an evidence engine for planning and research."""

__version__ = "0.2.0"
