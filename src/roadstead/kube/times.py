"""Times and durations in the forms Kubernetes writes them."""

import re
from datetime import UTC, datetime, timedelta

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time as an aware UTC one.

    Raises: ValueError when it is not one.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def format_time(moment: datetime) -> str:
    """Write a time as `metadata` holds it: RFC 3339, UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(moment: datetime) -> str:
    """Write a time as Leases hold it: RFC 3339, UTC, microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_duration(text: str) -> timedelta:
    """Read `1h30m`, `90s`, `500ms`, `3d`.

    Raises: ValueError when anything else stands in it.
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"`{text}` is no duration such as 30s, 5m or 1h30m")
    return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in parts))


_AGES = (("d", 86400, 2), ("h", 3600, 2), ("m", 60, 2))
"""Unit, seconds in it, and how many of it there must be before it leads."""
_ALONE = {"d": 8, "h": 8, "m": 10}
"""From here on a leading unit stands without a second one."""


def format_age(span: timedelta) -> str:
    """Write an age as kubectl does: two units at most, none that is zero."""
    seconds = max(0, int(span.total_seconds()))
    smaller = {"d": ("h", 3600), "h": ("m", 60), "m": ("s", 1)}
    for unit, length, least in _AGES:
        whole, rest = divmod(seconds, length)
        if whole < least:
            continue
        second, second_length = smaller[unit]
        part = rest // second_length
        return f"{whole}{unit}{part}{second}" if part and whole < _ALONE[unit] else f"{whole}{unit}"
    return f"{seconds}s"
