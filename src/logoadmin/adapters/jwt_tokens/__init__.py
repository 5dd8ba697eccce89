"""Access tokens as JWTs: :mod:`tokens` signs and verifies them, :mod:`keys` knows with what."""

from logoadmin.adapters.jwt_tokens.keys import Key, derived_keys, hs256_key, key_from_file, keys_of
from logoadmin.adapters.jwt_tokens.tokens import JwtTokens

__all__ = ["JwtTokens", "Key", "derived_keys", "hs256_key", "key_from_file", "keys_of"]
