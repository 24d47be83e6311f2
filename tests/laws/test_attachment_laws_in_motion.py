"""Attachments while others write, requests fail, answers get lost and we are started anew."""

from datetime import timedelta

from hypothesis import given, settings

from attachment_acts import Act, Stage, doubled, moments, plays, shared_addresses
from attachment_play import (
    assert_only_ours_is_written,
    holder_of,
    substance,
    world_of,
)
from attachment_worlds import (
    Scene,
    scenes,
)
from roadstead.capabilities.attachments import api

SOME = settings(max_examples=settings().max_examples // 2)


@SOME
@given(scenes(leftovers=False, sound=True), plays())
def test_at_no_moment_are_there_two_and_in_the_end_all_is_as_if_nothing_had_failed(
    scene: Scene, acts: tuple[Act, ...]
) -> None:
    """5 and 7: one Service and one claim an attachment, whatever order the world moves in."""
    world = world_of(scene)
    start = len(world.store.log)
    stage = Stage.of(scene, world)
    stage.settler.settle()
    for act in acts:
        stage.play(act)
    stage.calm_down()

    assert [] == [two for held in moments(world, start) for two in doubled(held)]
    assert_only_ours_is_written(world)
    living = {seen.meta.uid for seen in world.store.all(api.ATTACHMENT)}
    standing = [seen for seen in world.store.all() if not seen.deleting]
    assert {uid for seen in standing if (uid := holder_of(seen))} <= living
    assert [] == shared_addresses(world)
    rested = substance(world)
    written = len(world.met)
    stage.settler.restart(scene.settings)
    stage.settler.settle()
    stage.settler.tick(timedelta(minutes=1))
    assert rested == substance(world)
    assert written == len(world.met)
