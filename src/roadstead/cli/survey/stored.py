"""Reads every stored object that a process of ours reads, and says which it cannot read.

Of Secrets only the metadata is asked for. What is wrong is told by its place, never by its value.
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import jsonschema_rs

from roadstead.capabilities import ADMISSIONS, CONTROLLERS
from roadstead.deploy.crds import SHIPPED
from roadstead.errors import ClusterError
from roadstead.explain.checks.facts import Stored, Unasked, Unreadable
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET, Kind
from roadstead.kube.schema import openapi
from roadstead.kube.views import Form, View
from roadstead.runtime.client import Client
from roadstead.runtime.wire import collection_of


def _views() -> Iterator[View]:
    """One view of each kind that is read: whole where any process reads it whole."""
    every = [view for one in CONTROLLERS.values() for view in one.views]
    every += [view for one in ADMISSIONS.values() for view in one.views]
    for kind in dict.fromkeys(view.kind for view in every):
        whole = any(view.form is Form.FULL for view in every if view.kind == kind)
        form = Form.FULL if whole and kind != SECRET else Form.METADATA
        yield View(f"every-{kind.resource}", kind, form)


async def survey_stored(client: Client, served: Mapping[tuple[str, str], Kind]) -> Stored:
    """List everything, page by page; nothing is kept.

    Raises: ClusterError where the cluster does not answer.
    """
    objects, kinds = 0, 0
    wrong: list[Unreadable] = []
    unread: list[Unasked] = []
    validators = {one.kind: jsonschema_rs.validator_for(openapi(one.top)) for one in SHIPPED}
    for view in _views():
        if (view.kind.api_version, view.kind.kind) not in served:
            continue
        try:
            count, found = await _listed(client, view, validators.get(view.kind))
        except ClusterError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                unread.append(Unasked(f"you may not list {collection_of(view.kind)}"))
            elif error.status >= HTTPStatus.INTERNAL_SERVER_ERROR or error.reason == "Cut":
                wrong.append(Unreadable(view.kind.resource, error.message))
            else:
                raise
            continue
        objects, kinds = objects + count, kinds + 1
        wrong += found
    return Stored(objects, kinds, tuple(wrong), tuple(unread))


async def _listed(client: Client, view: View, validator: Any) -> tuple[int, list[Unreadable]]:
    """How many objects of a view there are, and those that do not fit."""
    count, token = 0, ""
    wrong: list[Unreadable] = []
    while True:
        page = await client.page(view, continue_token=token)
        count += len(page.objects)
        if validator is not None:
            wrong += [one for seen in page.objects for one in _unfit(validator, seen)]
        token = page.continue_token
        if not token:
            return count, wrong


def _unfit(validator: Any, seen: Object) -> Iterator[Unreadable]:
    """The first place where an object does not fit its schema."""
    error = next(iter(validator.iter_errors(seen.body)), None)
    if error is not None:
        place = ".".join(str(one) for one in error.instance_path) or "its top"
        yield Unreadable(str(seen.ref), f"does not fit the schema at {place}")
