"""The figures of docs/reference/bench.md: ratios to a floor of the same run, on the real API server."""
