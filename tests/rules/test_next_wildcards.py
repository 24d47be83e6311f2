"""Every obstacle of the wildcard replicas names a next step that clears it.

The worlds here are one step away from one in which every replica stands.
"""

from pathlib import Path
from typing import Any

import pytest

import kubectl_lines
from certificates import CERT1, KEY
from roadstead.capabilities.wildcards import api
from roadstead.explain.wildcards import (
    STEPS,
    SUPPLIED_CERTIFICATE,
    SUPPLIED_KEY,
    SUPPLIED_VALUES,
)
from roadstead.kube.refs import NAMESPACE, SECRET, Ref
from route_objects import body
from stories import Body, Story, identity, settle, shown, told_of

SOURCE, REPLICA = SECRET.ref("tenant-root", "wildcard-tls"), SECRET.ref("a", "wildcard-tls")
GOOD = "_cluster: {wildcard-secret-name: wildcard-tls, expose-ingress: tenant-root}"
PAIR = {"tls.crt": CERT1.decode(), "tls.key": KEY.decode()}
FILES = {
    SUPPLIED_VALUES: GOOD,
    SUPPLIED_CERTIFICATE: PAIR["tls.crt"],
    SUPPLIED_KEY: PAIR["tls.key"],
}
TENANT = {**body(NAMESPACE, "a"), "metadata": {"name": "a", "labels": {api.INGRESS_LABEL: "a"}}}


def values(text: str = GOOD) -> Body:
    """The platform's values."""
    stated = {api.VALUES_KEY: text}
    return body(SECRET, api.VALUES.name, api.VALUES.namespace, stringData=stated)


def tls(ref: Ref = SOURCE, type_: str = api.TLS, **meta: Any) -> Body:
    """A Secret with a certificate and its key."""
    made = {**body(SECRET, ref.name, ref.namespace), "type": type_, "stringData": PAIR}
    return {**made, "metadata": {**made["metadata"], **meta}}


STORIES = (
    Story(api.CONFIG_INVALID, "", api.VALUES, (values(": ["), tls(), TENANT)),
    Story(api.MISSING, "", SOURCE, (values(), TENANT)),
    Story(api.INVALID, "", SOURCE, (values(), tls(type_="Opaque"), TENANT)),
    Story(api.SKIPPED, "", REPLICA, (values(), tls(), tls(REPLICA), TENANT)),
    Story(api.IS_REPLICA, "", SOURCE, (values(), tls(labels={api.COPY: "true"}), TENANT)),
)


@pytest.mark.parametrize("story", STORIES, ids=identity)
def test_the_next_step_clears_the_obstacle(story: Story, tmp_path: Path) -> None:
    """What `why` tells a person to type must work, and the replica then stands."""
    played = settle(story, tmp_path)
    trail = told_of(played, api.VALUES)
    text = shown(trail)
    (_, decision), events = played.decisions[api.VALUES], {one.reason for one in played.world.told}
    assert story.reason in events
    assert any(
        str(story.about) in part or story.about.path in part for part in (text, trail.because)
    )

    for command in trail.next[0].commands:
        assert command in text
        kubectl_lines.run(played.world, command, FILES)
    played.settler.settle()

    after = played.decisions[api.VALUES][1]
    assert story.reason not in {event.reason for event in after.events}
    assert (api.REPLICATED, ()) == (after.state, told_of(played, api.VALUES).next)
    replica = played.world.store.get(REPLICA)
    assert replica is not None
    assert "true" == replica.labels[api.COPY]
    assert decision is not after


def test_every_step_has_a_story() -> None:
    """A new reason without a test of its next step is an omission."""
    assert {story.reason for story in STORIES} == {*STEPS, api.IS_REPLICA}
