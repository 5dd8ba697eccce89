"""The OpenAPI 3.1 document, generated from the operations and the types of their commands and answers."""

from logoadmin.entrypoints.http_api.openapi.document import openapi_document

__all__ = ["openapi_document"]
