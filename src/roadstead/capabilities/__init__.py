"""What Roadstead decides, one folder a capability, each with the same rooms."""

from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.wiring import Controller

CONTROLLERS: dict[str, Controller] = {ANCHORS.name: ANCHORS}
"""Every controller by the name `run --only` takes."""
