"""The cluster of the tests in this folder."""

from collections.abc import Iterator

import pytest

from tests.galera import Cluster, galera_missing_reason, one_at_a_time, running_cluster
from tests.options import skip_without


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Cluster]:
    reason = galera_missing_reason()
    if reason is not None:
        skip_without("GALERA", reason)
    directory = tmp_path_factory.getbasetemp()
    with one_at_a_time(directory if worker_id == "master" else directory.parent), running_cluster() as made:
        yield made
