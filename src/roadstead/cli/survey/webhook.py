"""Reads what there is to see of the admission webhook, and has the API server ask it once."""

from typing import Any

from cryptography import x509

from roadstead.capabilities.lineage.api import EXEMPT, SERVICE_NAME, SYSTEM
from roadstead.cli.survey.asking import asked
from roadstead.deploy.admission import REGISTRATION, SECRET_NAME, registration
from roadstead.errors import ClusterError
from roadstead.explain.checks.facts import Certificate, Known, Probed, Unasked, Webhook
from roadstead.kube.objects import Object
from roadstead.kube.refs import ENDPOINT_SLICE, SECRET, SERVICE
from roadstead.kube.shapes import part
from roadstead.kube.views import View
from roadstead.runtime.certificate import CERTIFICATE, names_of
from roadstead.runtime.client import Client
from roadstead.runtime.permission import Access
from roadstead.runtime.wire import collection_of

PROBE = "roadstead-check"
"""The name of the Secret that is created as a dry run; nothing of it is stored."""


async def survey_webhook(client: Client, home: str, spaces: Known[tuple[Object, ...]]) -> Webhook:
    """Look at the webhook of an installation.

    Raises: ClusterError where the cluster does not answer.
    """
    shipped = registration(home)
    name = shipped["metadata"]["name"]
    there = await asked(
        f"get {collection_of(REGISTRATION)}", client.get(REGISTRATION.ref("", name))
    )
    ref = SERVICE.ref(home, SERVICE_NAME)
    service = await asked(f"get {collection_of(SERVICE, home)}", client.get(ref))
    secret = SECRET.ref(home, SECRET_NAME)
    return Webhook(
        host=f"{SERVICE_NAME}.{home}.svc",
        shipped=shipped["webhooks"][0],
        registration=there,
        service=service,
        endpoints=await _endpoints(client, home, service),
        secret=secret,
        certificate=await asked(f"get {collection_of(SECRET, home)}", _certificate(client, home)),
        probed=await _probed(client, spaces)
        if isinstance(there, Object)
        else Unasked("there is nothing to ask"),
    )


async def _endpoints(client: Client, home: str, service: Known[Object | None]) -> Known[int | None]:
    """How many endpoints are ready; None for a Service that leads elsewhere by name."""
    if isinstance(service, Object) and part(service.body, "spec").get("type") == "ExternalName":
        return None
    labels = f"kubernetes.io/service-name={SERVICE_NAME}"
    view = View("webhook-slices", ENDPOINT_SLICE, labels=labels)
    found = await asked(f"list {collection_of(ENDPOINT_SLICE, home)}", client.list_view(view, home))
    if isinstance(found, Unasked):
        return found
    every = [one for seen in found for one in seen.body.get("endpoints") or ()]
    return sum(part(one, "conditions").get("ready") is not False for one in every)


async def _certificate(client: Client, home: str) -> Certificate | None:
    """The public half of the serving certificate; the rest is dropped at once."""
    there = await client.get(SECRET.ref(home, SECRET_NAME))
    held = there.decoded(CERTIFICATE) if there is not None else None
    if held is None:
        return None
    try:
        found = x509.load_pem_x509_certificate(held)
    except ValueError:
        return None
    return Certificate(names_of(found), found.not_valid_before_utc, found.not_valid_after_utc)


async def _probed(client: Client, spaces: Known[tuple[Object, ...]]) -> Known[Probed]:
    """Create a Secret as a dry run where the webhook is asked; a refusal is the answer."""
    if isinstance(spaces, Unasked):
        return spaces
    where = _place(spaces)
    if not where:
        return Unasked("there is no tenant's namespace that it would be asked about")
    if not await client.may(Access("create", "", SECRET.plural, where)):
        return Unasked(f"you may not create secrets in {where}, as a dry run does")
    ref = SECRET.ref(where, PROBE)
    body: dict[str, Any] = {
        "apiVersion": SECRET.api_version,
        "kind": SECRET.kind,
        "metadata": {"name": PROBE, "namespace": where},
    }
    try:
        await client.rehearse(ref, body)
    except ClusterError as error:
        if not error.status:
            raise
        return Probed(where, error.status, error.message)
    return Probed(where)


def _place(spaces: tuple[Object, ...]) -> str:
    """A namespace that the webhook is asked about: the root tenant's, else the first."""
    names = [
        one.meta.name
        for one in spaces
        if one.meta.name not in EXEMPT
        and one.labels.get(SYSTEM) != "true"
        and not one.deleting
        and not one.meta.name.startswith("kube-")
    ]
    tenants = [name for name in names if name.startswith("tenant-")]
    return next(
        (one for one in ("tenant-root", *sorted(tenants), *sorted(names)) if one in names), ""
    )
