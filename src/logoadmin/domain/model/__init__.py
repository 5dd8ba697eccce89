"""Records, limits, errors and rights. Everything else is built on them, including the ports."""
