"""The views of whoever decides here, where a question goes beyond them."""

from roadstead.engine.store import State, Store
from roadstead.kube.views import View


class Stores(dict[View, Store]):
    """The views of all controllers here; one that nobody has is not served.

    A process may run some of the capabilities alone, and a question about the others is answered
    as on a cluster without their kinds.
    """

    def __missing__(self, view: View) -> Store:
        """Answer for a view that is not watched here."""
        store = Store(view)
        store.lose(State.ABSENT)
        return store
