"""Times, durations and ages in the forms people know from Kubernetes."""

from datetime import UTC, datetime, timedelta

import pytest

from roadstead.kube.times import format_age, format_time, parse_duration, parse_time


@pytest.mark.parametrize(
    ("age", "seconds"),
    [
        ("0s", -5),
        ("119s", 119),
        ("2m", 120),
        ("2m5s", 125),
        ("12m", 725),
        ("3h5m", 3 * 3600 + 300),
        ("9h", 9 * 3600 + 300),
        ("47h", 47 * 3600),
        ("2d1h", 49 * 3600),
        ("41d", 41 * 86400 + 7200),
    ],
)
def test_an_age_reads_as_kubectl_writes_it(age: str, seconds: int) -> None:
    """Two units at most, so that a column stays narrow."""
    assert age == format_age(timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("seconds", "text"), [(90.0, "90s"), (5400.0, "1h30m"), (0.5, "500ms"), (259200.0, "3d")]
)
def test_a_duration_is_read(seconds: float, text: str) -> None:
    """The forms of flags and of cases."""
    assert seconds == parse_duration(text).total_seconds()


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-5m", "5y", "1h 30m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """A typo must not become a pause of another length."""
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)


def test_a_time_survives_the_round_trip() -> None:
    """What is written is what is read."""
    moment = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)

    assert moment == parse_time(format_time(moment))


def test_a_time_without_a_zone_is_refused() -> None:
    """A local time would be off by hours on another machine."""
    with pytest.raises(ValueError, match="without a zone"):
        parse_time("2026-01-01T00:00:00")
