"""Whether somebody may do something: what the API server's authorizers are asked, and answer."""

from typing import Any

import msgspec

from roadstead.runtime.refusals import UNREADABLE, cut


class Access(msgspec.Struct, frozen=True, gc=False):
    """Something that may be allowed or not.

    account: `namespace/name` of a ServiceAccount; empty for the caller.
    verb, resource: as RBAC has them, the resource with its subresource behind a slash.
    namespace: empty for all, and for what has none.
    """

    verb: str
    group: str
    resource: str
    namespace: str = ""
    account: str = ""

    def __str__(self) -> str:
        """As `kubectl auth can-i` takes it."""
        resource, slash, part = self.resource.partition("/")
        return f"{self.verb} {resource}{f'.{self.group}' if self.group else ''}{slash}{part}"

    @property
    def spec(self) -> dict[str, Any]:
        """As an access review asks it."""
        resource, _, part = self.resource.partition("/")
        attributes = {
            "verb": self.verb,
            "group": self.group,
            "resource": resource,
            "subresource": part,
            "namespace": self.namespace,
        }
        if not self.account:
            return {"resourceAttributes": attributes}
        space, _, name = self.account.partition("/")
        groups = ("serviceaccounts", f"serviceaccounts:{space}", "authenticated")
        return {
            "user": f"system:serviceaccount:{space}:{name}",
            "groups": [f"system:{one}" for one in groups],
            "resourceAttributes": attributes,
        }


class _ReviewStatus(msgspec.Struct):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _ReviewStatus


_REVIEW = msgspec.json.Decoder(_Review)


def decode_allowed(content: bytes, about: str) -> bool:
    """Read the answer of an access review.

    Raises: ClusterError when it is cut or malformed.
    """
    try:
        return _REVIEW.decode(content).status.allowed
    except UNREADABLE:
        raise cut(about) from None
