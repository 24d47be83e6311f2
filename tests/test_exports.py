"""What the package promises to outsiders."""

import roadstead


def test_the_public_names_are_sorted_and_exist() -> None:
    """A name in `__all__` that is not there breaks `from roadstead import *`."""
    assert sorted(roadstead.__all__) == roadstead.__all__
    assert [name for name in roadstead.__all__ if not hasattr(roadstead, name)] == []
