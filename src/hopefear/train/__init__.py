"""Training runs: what ``hopefear tune`` and ``hopefear train`` do."""
