"""The command line: one file for each noun. A command parses, calls one function of a domain, and prints."""
