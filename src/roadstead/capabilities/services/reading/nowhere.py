"""A platform that says nothing, for what can be judged of definitions without one."""

from roadstead.capabilities.services.api.model import Origin
from roadstead.capabilities.services.api.platform import Egress, Gateway, Platform
from roadstead.capabilities.services.api.platform_parts import EXCEPT_CIDRS
from roadstead.kube.documents import parse


def no_platform() -> Platform:
    """Defaults, no names and no services; findings of checks that look at it mean nothing."""
    origin = Origin(parse("{}", "").documents[0])
    return Platform("", "", origin, Gateway("", ""), egress=Egress(EXCEPT_CIDRS))
