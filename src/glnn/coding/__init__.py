"""Arithmetic coding of symbols with given probabilities: what a predictor needs to bring compiled coding steps."""
