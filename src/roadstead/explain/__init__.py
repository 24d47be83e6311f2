"""Read-only questions over a reader: what was decided, why, and what comes next."""
