"""Endpoint attachments, as `why`, `status` and `plan` speak of them."""

from roadstead.capabilities.attachments import api
from roadstead.capabilities.attachments.controller import ATTACHMENTS_CONTROLLER
from roadstead.capabilities.attachments.snapshot import ATTACHMENTS, CLAIMS
from roadstead.explain.attachments.find import WORDS
from roadstead.explain.attachments.rows import attachment_note, row, service_note
from roadstead.explain.attachments.tell import rules, tell, with_status
from roadstead.explain.subject import Subject
from roadstead.kube.refs import SERVICE

__all__ = ["ATTACHMENT_SUBJECT"]

ATTACHMENT_SUBJECT = Subject(
    controller=ATTACHMENTS_CONTROLLER,
    kind=api.ATTACHMENT.kind,
    column="ADDRESS/HOST",
    noun="endpoint attachment",
    resource=f"{api.ATTACHMENT.kind.lower()}.{api.ATTACHMENT.group}",
    view=ATTACHMENTS,
    listed=(ATTACHMENTS, CLAIMS),
    keys=frozenset({api.ATTACHMENT}),
    words=WORDS,
    rules=rules,
    tell=tell,
    row=row,
    missed=CLAIMS,
    learn=with_status,
    notes={api.ATTACHMENT: attachment_note, SERVICE: service_note},
)
