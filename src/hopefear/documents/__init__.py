"""Documents: their text as segments that a translator takes, and back into the file with structure and markup kept."""
