"""Watching registers: which new applications match what somebody looks for."""
