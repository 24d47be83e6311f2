"""The requests an engine makes, as both drivers offer them."""

from collections.abc import Mapping
from typing import Any, Protocol

from roadstead.decision import Event
from roadstead.kube.objects import Object, Owner
from roadstead.kube.refs import Kind, Ref
from roadstead.kube.views import View


class Api(Protocol):
    """One request each. All raise ClusterError for an answer that is no success.

    `runtime.client` sends them to a server, `sim.world` answers from memory and never suspends.
    """

    async def get(self, ref: Ref) -> Object | None:
        """One object, whole; None when it is not there (a kind not served is an error)."""

    async def owner(self, owner: Owner, namespace: str) -> Object | None:
        """The metadata of what an owner reference names; None when it is not there or not served.

        namespace: empty for what a cluster-scoped object is owned by.
        """

    async def list_metadata(
        self, kind: Kind, namespace: str = "", labels: str = ""
    ) -> tuple[Object, ...]:
        """The metadata of all objects a selector matches, sorted by name."""

    async def list_view(self, view: View, namespace: str) -> tuple[Object, ...]:
        """All objects of a view's selection in a namespace, in its form, sorted by name.

        Cluster-scoped kinds have the empty namespace. What `view.keep` does is left to the caller.
        """

    async def create(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """POST; gives the metadata of what was made."""

    async def replace(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT, with the resourceVersion in the body; gives the metadata of what is now there."""

    async def apply(self, kind: Kind, body: Mapping[str, Any], manager: str) -> Object:
        """Server-side apply, forced; gives the metadata of what is now there.

        body: the fields we own and no other. A uid in its metadata is a precondition.
        """

    async def patch(self, ref: Ref, merge: Mapping[str, Any]) -> Object:
        """PATCH by RFC 7396; a resourceVersion in its metadata is a precondition."""

    async def replace_status(self, kind: Kind, body: Mapping[str, Any]) -> Object:
        """PUT to `/status`, with the resourceVersion in the body; gives the metadata after it."""

    async def delete(self, ref: Ref, uid: str, resource_version: str) -> None:
        """DELETE with preconditions, background propagation; an absent object is success.

        resource_version: empty where the uid alone is the precondition.
        """

    async def publish(self, component: str, event: Event, times: int) -> None:
        """Tell of an event; `times` is how often it was told before, 0 the first time."""
