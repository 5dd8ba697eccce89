"""The cluster of the tests in this folder."""

from collections.abc import Iterator

import pytest

from tests.galera import Cluster, galera_missing_reason, running_cluster
from tests.mariadb import alone
from tests.options import skip_without


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Cluster]:
    reason = galera_missing_reason()
    if reason is not None:
        skip_without("GALERA", reason)
    directory = tmp_path_factory.getbasetemp()
    # One cluster at a time, to limit the load.
    place = directory if worker_id == "master" else directory.parent
    with alone(place / "galera.lock"), running_cluster() as made:
        yield made
