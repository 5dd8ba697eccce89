"""The HTTP interface of a :class:`~logoadmin.domain.logo_admin.LogoAdmin`, on Starlette."""
