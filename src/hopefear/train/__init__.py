"""What ``hopefear tune`` and ``hopefear train`` are made of: loops, replicates, held-out data, baselines."""
