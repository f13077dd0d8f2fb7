"""Generated lists, forests and languages, and the demonstration corpus."""
