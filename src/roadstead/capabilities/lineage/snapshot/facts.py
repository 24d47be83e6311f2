"""What one admission, and one round of the refresher, is judged on. Source: lineage 4 to 9."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from roadstead.capabilities.lineage import api
from roadstead.capabilities.lineage.snapshot.ancestry import Application
from roadstead.capabilities.lineage.snapshot.registry import Block, Definition
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref


@dataclass(frozen=True, slots=True)
class Belonging:
    """One object of an application, as a verdict looks at it.

    seen: the object, whole or its metadata alone; its labels are those it was submitted with.
    whole: whether values of a Secret can be looked at. definition: of the application's kind.
    minute: when it is looked at, where it may be asked again a minute later; empty where not.
    """

    seen: Object = field(repr=False)
    application: Application
    definition: Definition
    whole: bool = True
    minute: str = ""

    @property
    def block(self) -> Block | None:
        """The selectors for objects of this kind; None where there can be none."""
        name = api.block_of(self.seen.kind)
        return self.definition.blocks[name] if name else None

    @property
    def once(self) -> str:
        """What it may be asked again for: itself, under this state of the definition."""
        state = f"{self.definition.uid}/{self.definition.generation}"
        return f"{self.seen.meta.uid} {state} {self.minute}"

    @property
    def labels(self) -> Mapping[str, str]:
        """What selectors are asked about: the labels as they are, or would be, submitted."""
        if self.whole:
            return self.seen.labels
        return {key: value for key, value in self.seen.labels.items() if key != api.MANAGED_BY}

    @property
    def variables(self) -> dict[str, str]:
        """What a template of the definition may name."""
        return {
            "name": self.application.name,
            "kind": self.application.kind.lower(),
            "namespace": self.seen.meta.namespace,
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One object under review.

    creating: False for an update.
    applications: that own it, the first in the order of its owners first.
    definition: of the first one; None without an application.
    passed_over: other definitions of the same kind, whose names sort behind it.
    scheduling: the class its Pods are to have, which exists; empty for none.
    """

    subject: Object = field(repr=False)
    creating: bool = True
    applications: tuple[Application, ...] = ()
    definition: Definition | None = None
    passed_over: tuple[Ref, ...] = ()
    scheduling: str = ""

    @property
    def belonging(self) -> Belonging | None:
        """The object as part of its application; None when nobody owns it."""
        if not self.applications or self.definition is None:
            return None
        return Belonging(self.subject, self.applications[0], self.definition)


@dataclass(frozen=True, slots=True)
class Round:
    """What the refresher looks at in one round over a definition, or over all visible Secrets.

    stale: stored objects whose verdict would be another now and that were not asked about yet,
        each with the application that its owners lead to; metadata alone.
    unowned: visible objects that nobody owns.
    shown: whether there is one that should be hidden, asked about already or not.
    """

    stale: tuple[Belonging, ...] = ()
    unowned: int = 0
    shown: bool = False
