"""Files of a command line played offline, by what its flags and settings say."""

from collections.abc import Sequence

from roadstead.cli import inputs
from roadstead.cli.streams import stdin
from roadstead.explain.world import Played, play


def offline(files: Sequence[str], told: inputs.Given, *, observed: Sequence[str] = ()) -> Played:
    """Play files to their end; `-` is standard input.

    observed: files of objects that are there already.
    Raises: InputError, DoesNotSettleError.
    """
    return play(
        files,
        told.settings,
        told.now,
        stdin,
        observed=observed,
        only=told.only,
        stand_ins=told.stand_ins,
    )
