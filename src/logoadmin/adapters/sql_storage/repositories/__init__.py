"""The repositories: the queries of each storage port, and the conversion of their rows."""
