"""The table of endpoints (spec §Endpoints, §Versioning, contract C1, D).

The routes, the OpenAPI document and the test of declared statuses are derived from it.
"""

from typing import Final

from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations.changes import CHANGES_OPERATIONS
from logoadmin.entrypoints.http_api.operations.gallery import GALLERY_OPERATIONS, PUBLICATION_OPERATIONS
from logoadmin.entrypoints.http_api.operations.identity import IDENTITY_OPERATIONS

OPERATIONS: Final[tuple[Operation, ...]] = (
    *IDENTITY_OPERATIONS,
    *GALLERY_OPERATIONS,
    *PUBLICATION_OPERATIONS,
    *CHANGES_OPERATIONS,
)
