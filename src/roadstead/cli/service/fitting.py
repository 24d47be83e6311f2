"""P-OUT-01: every rendered object is held against the bundled schema of its kind."""

from collections.abc import Iterator

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import Finding
from roadstead.capabilities.services.render.effective import Output
from roadstead.cli.service.shapes import fits, violation


def unfit(output: Output) -> Iterator[Finding]:
    """What the schema of an object's kind refuses; each object once, with the field it is from."""
    for one in {id(each): each for each in (*output.effective, *output.folder)}.values():
        if not fits(one.kind, one.body):
            check = CHECKS["P-OUT-01"]
            where = violation(one.kind, one.body)
            message = f"{one.path} does not fit the schema of its kind at `{where}`"
            place = one.cause.place(one.field)
            yield Finding(check.severity, check.id, one.cause.name, message, place)
