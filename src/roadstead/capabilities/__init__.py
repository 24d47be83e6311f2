"""What Roadstead decides, one folder a capability, each with the same rooms.

The controllers are imported when they are first asked for: the service commands need none of them,
and would wait for all.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roadstead.wiring import Controller

    CONTROLLERS: dict[str, Controller]
    """Every controller by the name `run --only` takes."""


def __getattr__(name: str) -> Any:
    """Give `CONTROLLERS`. Source: PEP 562."""
    if name != "CONTROLLERS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from roadstead.capabilities.anchors.controller import ANCHORS  # noqa: PLC0415 - said above
    from roadstead.capabilities.attachments.controller import (  # noqa: PLC0415 - same
        ATTACHMENTS_CONTROLLER,
    )
    from roadstead.capabilities.gateways.controller import (  # noqa: PLC0415 - same
        GATEWAYS_CONTROLLER,
    )
    from roadstead.capabilities.wildcards.controller import WILDCARDS  # noqa: PLC0415 - same

    every = (ANCHORS, ATTACHMENTS_CONTROLLER, GATEWAYS_CONTROLLER, WILDCARDS)
    found = {one.name: one for one in every}
    globals()[name] = found
    return found
