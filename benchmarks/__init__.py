"""How fast the service is, beside a bare route and beside the usual way of writing it; see ``__main__``."""
