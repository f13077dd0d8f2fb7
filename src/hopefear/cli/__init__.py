"""The command line: one file a command, each ending in a call of the library."""
