"""The speed of the service, compared with a bare route and with the usual way of writing it; see ``__main__``."""
