"""`roadstead service selftest`: is this renderer, as it is installed, what it should be."""

from roadstead.cli.options import Color, NoColor, Quiet, application, screen
from roadstead.cli.out import Cell
from roadstead.cli.service.selftests import TESTS, plain

EXAMPLES = ("roadstead service selftest",)
app = application()

_FAILED = 2
_MOST = 3
"""Faults that are told of one line; the others are counted."""


@app.command()
def selftest(*, quiet: Quiet = False, color: Color = "auto", no_color: NoColor = False) -> int:
    """Render the bundled examples and hold them to what the contract promises; needs no file.

    One line a check. Exit code 2 when any of them fails.
    """
    page = screen(color, no_color, quiet=quiet)
    result = plain()
    failed = False
    for name, test in TESTS.items():
        faults = list(test(result))
        failed = failed or bool(faults)
        meaning = (test.__doc__ or "").strip().partition("\n")[0]
        sign = Cell("no", "red") if faults else Cell("ok", "green")
        if faults or not quiet:
            page.columns([(sign, name, meaning)], least=(2, 5))
        for fault in faults[:_MOST]:
            page.line(f"           {fault}")
        if len(faults) > _MOST:
            page.line(f"           and {len(faults) - _MOST} more")
    return _FAILED if failed else 0
