"""Worlds in which a reason holds, and what `why` shows of them."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from roadstead.cli.out import Screen
from roadstead.cli.why import show_trail
from roadstead.explain.trail import Trail
from roadstead.explain.world import Played, play
from roadstead.kube.refs import HELM_RELEASE, Ref
from roadstead.settings import Settings

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RELEASE = HELM_RELEASE.ref("tenant-foo", "postgres-mydb")
Body = Mapping[str, Any]
Then = Callable[[Played], None]


@dataclass(frozen=True)
class Story:
    """One world in which a reason holds.

    rule, about: what `why` must show. key: what is asked about.
    then: what happens after the first settling. number: which way on is taken.
    files: what the reader of a line supplies, by name. stand_ins: neighbours that act.
    """

    reason: str
    rule: str
    about: Ref
    world: tuple[Body, ...]
    key: Ref = RELEASE
    then: Then | None = None
    number: int = 0
    name: str = ""
    files: dict[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    stand_ins: tuple[str, ...] = ()


def settle(story: Story, folder: Path) -> Played:
    """Play a story's files up to where its reason holds."""
    file = folder / "world.yaml"
    file.write_text(yaml.safe_dump_all(story.world))
    played = play([str(file)], story.settings, NOW, lambda: b"", stand_ins=story.stand_ins)
    if story.then:
        story.then(played)
    return played


def shown(trail: Trail) -> str:
    """A trail as `why` prints it."""
    out = io.StringIO()
    show_trail(Screen(out, io.StringIO()), trail)
    return out.getvalue()


def told_of(played: Played, key: Ref) -> Trail:
    """The trail of a key that must have one."""
    found = played.trail(key)
    assert found is not None
    return found


def identity(story: Story) -> str:
    """The name of a story in the test's report."""
    return "-".join(part for part in (story.reason, story.name) if part)
