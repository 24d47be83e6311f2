"""The controller of a GatewayClass: says of classes, Gateways and routes what becomes of them.

It plays every class whose controllerName is in `OWNED`, and speaks under that very name; of a class
that is another's or absent, and of what is attached to one, it says nothing. What it says follows
the Gateway API's own reference. Left out: data planes, finalizers on classes, parametersRef,
ListenerSets, GRPCRoutes, addresses that a Gateway asks for (told as unsupported), and protocols
other than HTTP, HTTPS and TLS.
"""

from roadstead.capabilities.gateways import api
from roadstead.sim.actors.gateway_class.classes import CLASSES_CONTROLLER
from roadstead.sim.actors.gateway_class.gateways import PROGRAMMING_CONTROLLER
from roadstead.sim.actors.gateway_class.routes import ROUTING_CONTROLLER
from roadstead.sim.actors.gateway_class.views import OWNED

GATEWAY_CLASS_CONTROLLERS = (CLASSES_CONTROLLER, PROGRAMMING_CONTROLLER, ROUTING_CONTROLLER)
GATEWAY_CLASS_KINDS = (api.GATEWAY_CLASS,)

__all__ = ["GATEWAY_CLASS_CONTROLLERS", "GATEWAY_CLASS_KINDS", "OWNED"]
