"""Files and processes: what everything else stands on."""
