"""The parts of ``hopefear tune`` and ``hopefear train``: loops, replicates, held-out data, baselines."""
