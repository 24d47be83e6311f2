"""The requests an engine makes, as both drivers offer them."""

from collections.abc import Mapping
from typing import Any, Protocol

from roadstead.decision import Event
from roadstead.kube.objects import Object
from roadstead.kube.refs import Kind, Ref


class Api(Protocol):
    """One request each. All raise ClusterError for an answer that is no success.

    `runtime.client` sends them to a server, `sim.world` answers from memory and never suspends.
    """

    async def get(self, ref: Ref) -> Object | None:
        """One object, whole; None when it is not there (a kind not served is an error)."""

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches, sorted by name."""

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """POST; gives the metadata of what was made."""

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT, with the resourceVersion in the body; gives the metadata of what is now there."""

    async def delete(self, ref: Ref, uid: str, resource_version: str) -> None:
        """DELETE with both preconditions, background propagation; an absent object is success."""

    async def publish(self, component: str, event: Event, times: int) -> None:
        """Tell of an event; `times` is how often it was told before, 0 the first time."""
