"""The address substrate: binds claims, keeps and frees addresses, and has Services announce them.

One controller a kind, each the only writer of its kind's status. Source: endpoint-attachments 2.1.
"""

from roadstead.capabilities.attachments import api
from roadstead.sim.actors.addresses.balancers import BALANCERS_CONTROLLER
from roadstead.sim.actors.addresses.claims import CLAIMS_CONTROLLER
from roadstead.sim.actors.addresses.keeping import KEEPING_CONTROLLER

ADDRESSES_CONTROLLERS = (CLAIMS_CONTROLLER, KEEPING_CONTROLLER, BALANCERS_CONTROLLER)
ADDRESSES_KINDS = (api.ATTACHMENT, api.CLAIM, api.ADDRESS, api.CLASS)
