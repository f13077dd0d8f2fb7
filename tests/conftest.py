"""Property tests draw the same examples every time; fixtures that several folders need."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "hopefear",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("hopefear")


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a hierarchical model and sentences to train it on."""
    from tests.models import write_task

    folder = tmp_path_factory.mktemp("task")
    write_task(folder)
    return folder
