"""Compiled numerics: how kernels are compiled and cached, and the elementary functions they share."""
