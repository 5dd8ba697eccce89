"""OpenID Connect issuers, asked through the guarded way out (contract O7)."""

from logoadmin.adapters.oidc_issuer.issuer import OidcIssuer

__all__ = ["OidcIssuer"]
