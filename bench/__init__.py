"""The figures of docs/reference/bench.md, measured on the real API server."""
