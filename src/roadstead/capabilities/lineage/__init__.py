"""Admission: which application an object belongs to, and whether its tenant may see it."""
