"""Trust anchors, as `why`, `status` and `plan` speak of them."""

from roadstead.capabilities.anchors.controller import ANCHORS
from roadstead.capabilities.anchors.snapshot import RELEASES
from roadstead.explain.anchors.find import WORDS
from roadstead.explain.anchors.rows import KIND, row
from roadstead.explain.anchors.tell import NOTHING_OWED, about, anchor_of, rules, tell, with_event
from roadstead.explain.subject import Subject
from roadstead.kube.refs import HELM_RELEASE, SECRET

__all__ = ["ANCHOR_SUBJECT", "anchor_of"]

ANCHOR_SUBJECT = Subject(
    controller=ANCHORS,
    kind=KIND,
    column="SOURCE, EXPIRY",
    noun="application release",
    resource=KIND.lower(),
    view=RELEASES,
    listed=ANCHORS.views,
    keys=frozenset({HELM_RELEASE, SECRET}),
    words=WORDS,
    quiet=frozenset({*NOTHING_OWED, "CanonicalSelf"}),
    rules=rules,
    tell=tell,
    row=row,
    learn=with_event,
    about=about,
)
