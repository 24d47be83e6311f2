"""Who holds a hostname, an address or a Secret, told by what decisions know."""

from roadstead.explain.who.ask import who
from roadstead.explain.who.found import ADDRESS, HOSTNAME, SECRET, Asked, Holding, Waiting, Who
from roadstead.explain.who.hostnames import by_status

__all__ = [
    "ADDRESS",
    "HOSTNAME",
    "SECRET",
    "Asked",
    "Holding",
    "Waiting",
    "Who",
    "by_status",
    "who",
]
