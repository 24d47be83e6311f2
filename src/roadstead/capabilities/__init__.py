"""What Roadstead decides, one folder a capability, each with the same rooms."""

from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.wiring import Controller

CONTROLLERS: dict[str, Controller] = {one.name: one for one in (ANCHORS, ATTACHMENTS_CONTROLLER)}
"""Every controller by the name `run --only` takes."""
