"""The council's planning register: its pages, a polite client, and which of its documents matter."""
