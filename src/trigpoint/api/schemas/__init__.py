"""What goes over the wire, as the contract words it; also what OpenAPI shows."""
