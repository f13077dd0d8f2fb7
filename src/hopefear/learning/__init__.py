"""Learning from corrections: a journal of them, and what follows from it for the sentences that come next."""
