"""The REST API: thin. A route parses, calls one function of a domain or of the jobs, and shapes the answer."""
