"""Generated lists, forests and languages, and the demonstration corpus."""

SENTENCES, CANDIDATES, REFERENCES, DENSE = 200, 100, 4, 14  #: of generated lists
