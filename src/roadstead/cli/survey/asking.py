"""One question to a cluster at a time, with the caller's own rights: the fact, or why not."""

from collections.abc import Awaitable
from http import HTTPStatus
from typing import TypeVar

from roadstead.errors import ClusterError
from roadstead.explain.checks.facts import Known, Unasked

T = TypeVar("T")


async def asked(doing: str, question: Awaitable[T]) -> Known[T]:
    """The answer, or that the caller may not ask.

    doing: what follows `you may not`.
    Raises: ClusterError for anything but "forbidden".
    """
    try:
        return await question
    except ClusterError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return Unasked(f"you may not {doing}")
