"""Models that count what followed which context: the context tree, n-grams, mixing."""
