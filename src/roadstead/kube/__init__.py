"""Kubernetes vocabulary. Pure: no input or output, no clock, no randomness."""
