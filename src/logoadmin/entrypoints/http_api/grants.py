"""Grants: the ways to ask for tokens, which OAuth 2 tells apart by ``grant_type`` (contract C1, RFC 6749 §4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.kernel.command import Command

GRANT_TYPE: Final = "grant_type"


@dataclass(frozen=True, slots=True)
class Grant:
    """A way to ask for tokens.

    Attributes:
        value: the value of ``grant_type``.
        text: its description in the OpenAPI document.
        command: the command that the other fields of the body make.
        use_case: the use case of the command.
        is_default: whether a body without ``grant_type`` is such a grant.
    """

    value: str
    text: str
    command: type[Command]
    use_case: Callable[..., Any]
    is_default: bool = False

    def described(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON schema of the body with this grant, given that of its command."""
        field = {"const": self.value, "description": self.text, "title": "Grant Type", "type": "string"}
        own = {**body, "properties": {GRANT_TYPE: field, **body["properties"]}}
        if "examples" in body:
            own["examples"] = [{GRANT_TYPE: self.value, **example} for example in body["examples"]]
        if self.is_default:
            field["default"] = self.value
        else:
            own["required"] = [GRANT_TYPE, *body.get("required", ())]
        return own
