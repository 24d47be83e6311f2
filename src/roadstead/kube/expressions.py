"""Regular expressions as Go reads them, in which Flux and oauth2-proxy take theirs.

Go knows no look-around and no back-references; Python spells some of the rest differently.
Source: github.com/google/re2, syntax.
"""

import re
import warnings
from re import Pattern

_FOREIGN = re.compile(r"\\[1-9]|\(\?(?:[=!]|<[=!]|P=|P>|#|\()|\\[ZgKGXR]")
"""What Python or PCRE know and Go does not."""
_GO = re.compile(
    r"\\\\|\\[pP](?:\{\^?\w+\}|\w)|\\z|\\C|\(\?<(?=[A-Za-z_])|\[:\^?[a-z]+:\]|\\Q.*?\\E"
)
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_LONGEST = 1000


def expression(text: str) -> Pattern[str]:
    """Read an expression. A class of Unicode is taken for any letter or digit.

    Raises: ValueError when Go would not read it.
    """
    bare = text.replace(r"\\", "")
    if len(text) > _LONGEST or _FOREIGN.search(bare):
        raise ValueError("no expression that Go reads: no look-around, no back-references")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of a bracket within a class
            return re.compile(_GO.sub(_spelt, text))
    except (re.error, OverflowError, RecursionError):
        raise ValueError("no regular expression") from None


def is_expression(text: str) -> bool:
    """Tell whether Go would read an expression."""
    try:
        expression(text)
    except ValueError:
        return False
    return True


def _spelt(found: re.Match[str]) -> str:
    """What Python writes for it."""
    it = found[0]
    if it == r"\z":
        return r"\Z"
    if it == "(?<":
        return "(?P<"
    if it.startswith("[:"):
        return _CLASSES.get(it[2:-2], it)
    if it.startswith(r"\Q"):
        return re.escape(it[2:-2])
    if it.startswith((r"\p", r"\C")):
        return r"\w"
    return r"\W" if it.startswith(r"\P") else it
