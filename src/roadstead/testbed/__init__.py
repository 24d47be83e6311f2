"""Roadstead."""
