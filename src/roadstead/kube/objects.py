"""Frozen view of one Kubernetes object, whole or metadata only, and its canonical form.

An Object never shows its body in `repr`: a Secret's value must not reach a log, a traceback or
a failed assertion through it.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Self

import msgspec

from roadstead.kube.refs import Kind, Ref
from roadstead.kube.times import parse_time

_EMPTY: Mapping[str, str] = MappingProxyType({})


class Owner(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One owner reference. A missing boolean equals false."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None

    @property
    def group(self) -> str:
        """The API group, whatever the version."""
        return self.api_version.rpartition("/")[0]

    def is_a(self, kind: Kind) -> bool:
        """Whether it is of a kind, in whatever version."""
        return (self.group, self.kind) == (kind.group, kind.kind)


class Meta(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The part of `metadata` that we read; managed fields are never kept."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[Owner, ...] | None = None
    finalizers: tuple[str, ...] | None = None


class Object(msgspec.Struct, frozen=True, gc=False):
    """One object as it was read.

    body: the whole JSON object when it was read in full, empty when only its metadata was.
    """

    kind: Kind
    meta: Meta
    body: dict[str, Any] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        """Name it, and show nothing of it."""
        return f"<{self.ref} at {self.meta.resource_version}>"

    @classmethod
    def of(cls, kind: Kind, body: dict[str, Any]) -> Self:
        """Wrap a whole JSON object.

        Raises: ValueError when its metadata has not the shape Kubernetes gives it.
        """
        try:
            return cls(kind, msgspec.convert(body.get("metadata") or {}, Meta), body)
        except msgspec.ValidationError:
            raise ValueError(f"metadata of a {kind.kind} is malformed") from None

    @property
    def ref(self) -> Ref:
        """Its name."""
        return Ref(self.meta.namespace, self.kind, self.meta.name)

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels; empty when it has none."""
        return self.meta.labels or _EMPTY

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations; empty when it has none, or when they were cut off on receipt."""
        return self.meta.annotations or _EMPTY

    @property
    def owners(self) -> tuple[Owner, ...]:
        """Its owner references."""
        return self.meta.owner_references or ()

    @property
    def controller(self) -> Owner | None:
        """The owner that controls it; the API server lets there be one at most."""
        return next((owner for owner in self.owners if owner.controller), None)

    @property
    def deleting(self) -> bool:
        """Whether a deletion was accepted and finalizers still hold it."""
        return self.meta.deletion_timestamp is not None

    def age(self, now: datetime) -> timedelta:
        """How long ago it was created; zero when that is unknown."""
        made = self.meta.creation_timestamp
        return now - parse_time(made) if made else timedelta(0)

    def data_keys(self) -> tuple[str, ...]:
        """The keys of a Secret or ConfigMap, sorted."""
        return tuple(sorted(self.body.get("data") or {}))

    def decoded(self, key: str) -> bytes | None:
        """One value of a Secret, decoded; None when the key is absent or holds no base64."""
        value = (self.body.get("data") or {}).get(key)
        if not isinstance(value, str):
            return None
        try:
            return b64decode(value, validate=True)
        except (Base64Error, ValueError):
            return None


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no white space: equal values give equal bytes."""
    return msgspec.json.encode(value, order="sorted")


def without_bulk(meta: Meta) -> Meta:
    """Metadata as a metadata view keeps it: no annotations, which can hold a Secret's value.

    Source: trust-anchors 9, memory and secrecy rules.
    """
    return msgspec.structs.replace(meta, annotations=None)
