"""The messages of pydantic in plain words, for settings and for the command line."""

import re
from typing import Final

# The first that matches is used.
_WORDS: Final = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (r"Input should be greater than or equal to (.+)", r"should be at least \1"),
        (r"Input should be less than or equal to (.+)", r"should be at most \1"),
        (r"Input should be a valid (integer|number).*", "should be a whole number"),
        (r"Input should be a valid boolean.*", "should be true or false"),
        (r"Input should be a valid string, unable.*", "should be text in UTF-8"),
        (r"Input should be a valid string", "should be text"),
        (r"Input should be a valid (list|tuple)", "should be a list"),
        (r"Input should be a valid dictionary", "should be an object"),
        (r"(String|Value) should have at least 1 character", "should not be empty"),
        (r"(?:List|Tuple|Value) should have at most (\d+) items?.*", r"should have at most \1 entries"),
        (r"(?:Input|String|Value) should (.+)", r"should \1"),
        (r"Field required", "is missing"),
        (r"Extra inputs are not permitted", "is unknown"),
        (r"Value error, (.+)", r"\1"),
        (r"Invalid JSON: expected ident(.*)", r"Invalid JSON: expected true, false or null\1"),
    )
)


def plain_words(message: str) -> str:
    """Return a message of pydantic without its names of types, such as "should be at most 7"."""
    for pattern, words in _WORDS:
        found = pattern.fullmatch(message)
        if found is not None:
            return found.expand(words).replace("'", "") if "should be '" in message else found.expand(words)
    return message
