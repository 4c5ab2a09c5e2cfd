"""One server with one worker for the tests of a file that change neither."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_fox.testing.cluster import Cluster, cluster


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as own:
        yield own
