"""What wakes the wildcard replicas: all that happens leads to the one key.

Source: wildcard-secrets 8 and 9.
"""

from collections.abc import Iterator

from roadstead.capabilities.wildcards import api
from roadstead.capabilities.wildcards.decide import decide, report
from roadstead.capabilities.wildcards.snapshot import (
    CHANNEL,
    GATEWAYS,
    NAMESPACES,
    SECRETS,
    observe,
    source_named,
)
from roadstead.decision import Cached
from roadstead.kube.objects import Object
from roadstead.kube.refs import Ref
from roadstead.wiring import Controller, Watch


def the_one_key(_values: Object, _cached: Cached) -> Iterator[Ref]:
    """The values wake the one key there is."""
    yield api.VALUES


def the_key_if_there_are_values(_seen: Object, cached: Cached) -> Iterator[Ref]:
    """Whatever it is, all replicas are looked at; without the values there is nothing to look for.

    Source: section 3, the first row.
    """
    if cached.get(CHANNEL, api.VALUES.namespace, api.VALUES.name) is not None:
        yield api.VALUES


def copy_or_name_of_the_source(secret: Object, cached: Cached) -> Iterator[Ref]:
    """A Secret that carries our mark, or stands under the source's name in any namespace.

    A mark that was taken off needs no look back: under the source's name it is told by its name,
    under another there is nothing left to do.
    """
    if api.COPY in secret.labels or secret.meta.name == source_named(cached):
        yield from the_key_if_there_are_values(secret, cached)


def kept_facts_changed(old: Object, new: Object) -> bool:
    """Only what is kept matters: labels, the deletion, a mode, a word of the channel."""
    return (old.labels, old.deleting, old.body) != (new.labels, new.deleting, new.body)


WILDCARDS = Controller(
    name="wildcards",
    component=api.COMPONENT,
    watches=(
        Watch(CHANNEL, the_one_key, kept_facts_changed),
        Watch(SECRETS, copy_or_name_of_the_source),
        Watch(NAMESPACES, the_key_if_there_are_values, kept_facts_changed),
        Watch(
            GATEWAYS,
            the_key_if_there_are_values,
            kept_facts_changed,
            optional=True,
            awaited=False,
        ),
    ),
    observe=observe,
    decide=decide,
    report=report,
    reasons=api.REASONS,
    workers=1,
    pause=api.PAUSE,
)
