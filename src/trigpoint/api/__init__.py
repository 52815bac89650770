"""The REST API. A route parses a request, calls one function of a domain or of the jobs, and shapes the answer."""
