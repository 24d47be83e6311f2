"""What was probably meant: the nearest word by edit distance."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, words: Iterable[str], most: int | None = None) -> str:
    """The word that takes the fewest letters added, left out or changed; empty for none.

    most: how many at most; None for no limit. Of equally near ones the first in order.
    Cost: linear in the words for those that differ in length by more than the best so far.
    """
    best = len(word) + 64 if most is None else most
    found = ""
    for one in sorted(words):
        if abs(len(one) - len(word)) <= best:
            distance = _distance(word, one, best)
            if distance <= best:
                # From here on only what is nearer counts.
                found, best = one, distance - 1
                if best < 1:
                    break
    return found


def did_you_mean(word: str, words: Iterable[str], otherwise: str = "") -> str:
    """A hint for a name that does not exist. otherwise: where nothing is near enough."""
    near = get_close_matches(word, list(words), n=1)
    return f"did you mean `{near[0]}`?" if near else otherwise


def _distance(left: str, right: str, most: int) -> int:
    """Edit distance; anything above `most` may be told as `most + 1`."""
    row = list(range(len(right) + 1))
    for number, letter in enumerate(left, start=1):
        before, row[0] = row[0], number
        for at, other in enumerate(right, start=1):
            step = min(row[at] + 1, row[at - 1] + 1, before + (letter != other))
            before, row[at] = row[at], step
        if min(row) > most:
            return most + 1
    return row[-1]
