"""The core's threads."""

from __future__ import annotations

import os
import signal

import numpy as np

from tests.trainers.pools import synthetic_pool


def test_a_forked_process_has_threads_of_its_own() -> None:
    """Those of the parent are not there: whoever waited for them would wait for ever."""
    pool = synthetic_pool()
    weights = np.ones(len(pool.feature_names))
    before = pool.kbest(weights, 1, jobs=3).text(0, 0)
    process = os.fork()
    if process == 0:
        signal.alarm(60)
        os._exit(0 if pool.kbest(weights, 1, jobs=3).text(0, 0) == before else 1)
    assert os.waitpid(process, 0)[1] == 0
