"""The worlds of `up`, as files of this package."""
