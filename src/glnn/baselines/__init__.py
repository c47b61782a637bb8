"""What people would use instead: hidden Markov models, context trees, file compressors."""
