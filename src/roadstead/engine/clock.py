"""The two times an engine is told: what people read, and what only ever moves forward."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where an engine takes the time from. A wall clock may jump; nothing waits on it."""

    def wall(self) -> datetime:
        """The time of day, UTC."""

    def steady(self) -> float:
        """Seconds since some moment; never goes back."""
