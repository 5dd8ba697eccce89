"""The repositories: the queries for each port of storage, and what their rows become."""
