"""The types of bodies, as ``Content-Type`` names them."""

from typing import Final

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
# JSON Lines have two names; the first is the one that is sent.
JSON_LINES: Final = ("application/jsonl", "application/x-ndjson")
