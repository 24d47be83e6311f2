"""Generators of what is installed: definitions and permissions."""
