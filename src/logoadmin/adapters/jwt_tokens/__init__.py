"""Access tokens as JWTs, and the keys that sign and verify them."""

from logoadmin.adapters.jwt_tokens.keys import Key, derived_keys, hs256_key, key_from_file, keys_of
from logoadmin.adapters.jwt_tokens.tokens import JwtTokens

__all__ = ["JwtTokens", "Key", "derived_keys", "hs256_key", "key_from_file", "keys_of"]
