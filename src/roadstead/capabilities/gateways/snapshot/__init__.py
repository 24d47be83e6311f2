"""Everything a decision about a tenant gateway may know; a new fact is added in `facts` first."""

from roadstead.capabilities.gateways.snapshot.facts import Asked, NativePort, Route, Snapshot
from roadstead.capabilities.gateways.snapshot.observe import observe

__all__ = ["Asked", "NativePort", "Route", "Snapshot", "observe"]
