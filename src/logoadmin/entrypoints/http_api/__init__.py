"""The HTTP door: Starlette in front of a :class:`~logoadmin.domain.logo_admin.LogoAdmin`."""
