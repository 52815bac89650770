"""The messages of the REST API, as the contract words them; OpenAPI shows them too."""
