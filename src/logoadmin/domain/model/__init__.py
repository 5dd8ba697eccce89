"""Records, limits, errors and rights, on which everything else is built, including the ports."""
