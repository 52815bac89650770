"""Passages: one model, one store, one search for policies, documents and library."""
