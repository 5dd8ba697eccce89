"""Services whose caller is a user for whom the embedding program acts (contract B4, H6)."""

from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any

from logoadmin.domain.kernel.access import ActingAs, Owner
from logoadmin.domain.kernel.use_cases import Service


class ActingService:
    """A service whose use cases have a user as their caller, in place of the program itself."""

    def __init__(self, service: Service, caller: ActingAs) -> None:
        """Act for a user."""
        self.service = service
        self._caller = caller

    def __getattr__(self, name: str) -> Any:
        """Return a use case.

        Raises:
            AttributeError: the service has none of this name, or it takes no caller.
        """
        method = getattr(self.service, name)
        parameters = signature(method)
        caller = parameters.parameters.get("caller")
        if name.startswith("_") or caller is None:
            raise AttributeError(f"{name} takes no caller: it is not for users, but for the program itself")

        @wraps(method)
        def use_case(*given: Any, **named: Any) -> Any:
            bound = parameters.bind(*given, **named)
            bound.apply_defaults()
            asked = bound.arguments["caller"]
            if isinstance(asked, Owner):
                bound.arguments["caller"] = replace(self._caller, request_id=asked.request_id, occasion=asked.occasion)
            return method(*bound.args, **bound.kwargs)

        return use_case
