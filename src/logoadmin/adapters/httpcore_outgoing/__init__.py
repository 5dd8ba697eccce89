"""Outgoing requests with httpcore2, an optional package: the guarded way out (contract L8)."""

from logoadmin.adapters.httpcore_outgoing.outgoing import GuardedOutgoing

__all__ = ["GuardedOutgoing"]
