"""The reading measured on labelled applications: status, quoting, discrepancies."""
