"""The controllers and admissions of every capability that runs."""

from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.gateways.controller import GATEWAYS_CONTROLLER
from roadstead.capabilities.lineage.controller import REFRESHER
from roadstead.capabilities.lineage.webhook import LINEAGE
from roadstead.capabilities.wildcards.controller import WILDCARDS
from roadstead.wiring import Admission, Controller

CONTROLLERS: dict[str, Controller] = {
    one.name: one
    for one in (ANCHORS, ATTACHMENTS_CONTROLLER, GATEWAYS_CONTROLLER, WILDCARDS, REFRESHER)
}
ADMISSIONS: dict[str, Admission] = {LINEAGE.name: LINEAGE}
