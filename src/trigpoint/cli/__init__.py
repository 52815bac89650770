"""The command line: one file a noun. A command parses, calls one function of a domain, and prints."""
