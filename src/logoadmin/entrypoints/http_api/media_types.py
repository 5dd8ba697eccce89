"""The media types of bodies."""

from typing import Final

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
# JSON Lines have two names; an export is sent under the first.
JSON_LINES: Final = ("application/jsonl", "application/x-ndjson")
OCTETS: Final = "application/octet-stream"
TEXT: Final = "text/plain"
# An alternative that generated clients can handle. Imports are never accepted as text/plain: a page of any origin may
# send that to a service on localhost without asking first, which it may not do with octets (Fetch, CORS-safelisted
# headers).
IMPORTED: Final = (*JSON_LINES, OCTETS)
EXPORTED: Final = (*JSON_LINES, TEXT)
