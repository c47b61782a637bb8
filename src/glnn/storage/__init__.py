"""What is kept on disk: whole files, model files, checkpoints; nothing read from a file is ever executed."""
