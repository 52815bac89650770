"""Reads an application's documents: the development's profile, statements, facts, arithmetic and contradictions."""
