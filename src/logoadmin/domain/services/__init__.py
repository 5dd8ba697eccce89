"""The use cases. Each module has its commands first, then its service."""
