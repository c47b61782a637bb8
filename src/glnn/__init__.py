"""Learning probabilistic models of symbol sequences with Riemannian metrics."""

__version__ = "0.1.0"
