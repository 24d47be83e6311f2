"""What Roadstead decides, one folder a capability, each with the same rooms.

What runs is imported when it is first asked for: the service commands need none of it, and would
wait for all.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roadstead.wiring import Admission, Controller

    CONTROLLERS: dict[str, Controller]
    """Every controller by the name `run --only` takes."""
    ADMISSIONS: dict[str, Admission]
    """Whoever answers admission, by the same names."""


def __getattr__(name: str) -> Any:
    """Give `CONTROLLERS` or `ADMISSIONS`. Source: PEP 562."""
    if name not in {"CONTROLLERS", "ADMISSIONS"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from roadstead.capabilities import running  # noqa: PLC0415 - said above

    globals().update(CONTROLLERS=running.CONTROLLERS, ADMISSIONS=running.ADMISSIONS)
    return globals()[name]
