"""What is: records, limits, errors, rights. Everything else stands on it, the ports, too."""
