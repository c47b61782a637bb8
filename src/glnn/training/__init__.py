"""Training: passes over the data, learning-rate control, one step, the trainer, stopping."""
