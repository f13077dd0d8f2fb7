"""Files, processes, messages: helpers of all other packages."""
