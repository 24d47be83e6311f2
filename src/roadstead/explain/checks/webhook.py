"""Checks of the admission webhook, by what a client of the API server may see. Source: lineage 3.

No socket is opened but to the API server: that the webhook answers is shown by a dry run.
"""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from roadstead.capabilities.lineage.api import WEBHOOK
from roadstead.explain.checks.check import (
    AFTER,
    ERROR,
    OK,
    ROADSTEAD,
    WARNING,
    Check,
    Found,
    unasked,
)
from roadstead.explain.checks.facts import Certificate, Facts, Probed, Unasked, Webhook
from roadstead.kube.objects import Object
from roadstead.kube.pem import lift
from roadstead.kube.times import format_age, format_time
from roadstead.runtime.certificate import covers

SOON = timedelta(days=7)
"""What expires sooner was not renewed when it should have been."""
_REGISTER = "roadstead manifests webhook | kubectl apply -f -"
_FAILED = re.compile(r'failed calling webhook "([^"]+)"')
_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request')
_SERVER_FAULTS = 500


def _of(judge: Callable[[Facts, Webhook], Found | None]) -> Callable[[Facts], Found | None]:
    def asked(seen: Facts) -> Found | None:
        webhook = seen.installed.webhook if seen.installed is not None else None
        return None if webhook is None else judge(seen, webhook)

    return asked


def _registered(webhook: Webhook) -> Mapping[str, Any] | None:
    """Our entry of the registration; None where there is none, or where it may not be read."""
    if not isinstance(webhook.registration, Object):
        return None
    every = webhook.registration.body.get("webhooks") or ()
    return next((one for one in every if one.get("name") == WEBHOOK), None)


def registered(_seen: Facts, webhook: Webhook) -> Found:
    """The API server asks, about what the program answers."""
    if isinstance(webhook.registration, Unasked):
        return unasked(webhook.registration)
    there = _registered(webhook)
    if there is None:
        return Found(ERROR, "no verdict is given: nobody asks the webhook", (_REGISTER,))
    differs = sorted(_differences(webhook.shipped, there))
    if differs:
        return Found(ERROR, "it asks about other objects than the program answers for",
                     tuple(f"{name} is not what ships" for name in differs))  # fmt: skip
    return Found(OK, f"failurePolicy {there.get('failurePolicy')}")


def _differences(shipped: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[str]:
    """What a registration states otherwise than ours; the address may be another."""
    for name, value in shipped.items():
        if name == "clientConfig":
            service = (there.get(name) or {}).get("service")
            if service is not None and service.get("path") != value["service"]["path"]:
                yield "clientConfig.service.path"
        elif there.get(name) != value:
            yield name


def bundle(seen: Facts, webhook: Webhook) -> Found | None:
    """The API server trusts whoever signed the serving certificate."""
    there = _registered(webhook)
    if there is None:
        return None
    text = str((there.get("clientConfig") or {}).get("caBundle") or "")
    if not text:
        return Found(ERROR, "its caBundle is empty; cert-manager's cainjector fills it in")
    try:
        lifted = lift(b64decode(text, validate=True))
    except (Base64Error, ValueError):
        return Found(ERROR, "its caBundle is no base64: every write it is asked about fails")
    if lifted.refusal is not None:
        return Found(ERROR, f"its caBundle holds no certificate: {lifted.why}")
    left = max(one.not_after for one in lifted.certificates) - seen.now
    if left <= timedelta(0):
        return Found(ERROR, f"its caBundle expired {format_age(-left)} ago")
    level = WARNING if left < SOON else OK
    return Found(level, f"expires in {format_age(left)}")


def service(_seen: Facts, webhook: Webhook) -> Found | None:
    """The Service leads to somebody."""
    there = _registered(webhook)
    if there is None or not (there.get("clientConfig") or {}).get("service"):
        return None
    for fact in (webhook.service, webhook.endpoints):
        if isinstance(fact, Unasked):
            return unasked(fact)
    name = webhook.host.partition(".")[0]
    if webhook.service is None:
        return Found(ERROR, f"there is no Service {name}: every write it is asked about fails")
    if webhook.endpoints == 0:
        lost = "writes in tenants' namespaces are refused"
        return Found(ERROR, f"Service {name} has no ready endpoint: {lost}")
    return Found(OK, "ExternalName" if webhook.endpoints is None else f"{webhook.endpoints} ready")


def certificate(seen: Facts, webhook: Webhook) -> Found | None:
    """The serving certificate is for the Service, and is good for a while."""
    if _registered(webhook) is None:
        return None
    held = webhook.certificate
    if isinstance(held, Unasked):
        return unasked(held)
    if held is None:
        return Found(WARNING, f"{webhook.secret} holds none; another Secret may be mounted")
    if not any(covers(name, webhook.host) for name in held.names):
        return Found(ERROR, f"{webhook.secret} is for {', '.join(held.names) or 'no name'}, "
                     f"not for {webhook.host}")  # fmt: skip
    return _time(seen, webhook, held)


def _time(seen: Facts, webhook: Webhook, held: Certificate) -> Found:
    left = held.not_after - seen.now
    if left <= timedelta(0):
        return Found(ERROR, f"{webhook.secret} expired {format_age(-left)} ago")
    if seen.now < held.not_before:
        return Found(ERROR, f"{webhook.secret} is valid from {format_time(held.not_before)} on")
    if left < SOON:
        return Found(WARNING, f"{webhook.secret} expires in {format_age(left)}")
    return Found(OK, f"expires in {format_age(left)}")


def answers(_seen: Facts, webhook: Webhook) -> Found | None:
    """A write in a tenant's namespace goes through: what is registered was asked, and answered."""
    if _registered(webhook) is None:
        return None
    probed = webhook.probed
    if isinstance(probed, Unasked):
        return unasked(probed)
    failed, denied = _FAILED.search(probed.message), _DENIED.search(probed.message)
    if failed is not None and failed[1] == WEBHOOK:
        return Found(ERROR, f"in {probed.where}: {probed.message}")
    if denied is not None and denied[1] == WEBHOOK:
        return Found(ERROR, f"in {probed.where} it answers no: {probed.message}")
    if probed.code >= _SERVER_FAULTS:
        return Found(ERROR, f"in {probed.where}: {probed.message}")
    return Found(OK, _passed(probed))


def _passed(probed: Probed) -> str:
    """A refusal by whoever comes after the webhook still shows that the webhook has answered."""
    after = f", refused by another ({probed.code})" if probed.code else ""
    return f"dry run in {probed.where}{after}"


WEBHOOK_CHECKS = (
    Check(
        "webhook-registered",
        ROADSTEAD,
        "webhook is registered",
        (ERROR,),
        _of(registered),
        "The MutatingWebhookConfiguration `lineage` is there and asks as it ships.",
        "It was not applied yet, was edited, or is of another version.",
        f"Apply it once the Deployment is available: `{_REGISTER}`.",
        (AFTER,),
    ),
    Check(
        "webhook-bundle",
        ROADSTEAD,
        "webhook's authority is trusted",
        (ERROR, WARNING),
        _of(bundle),
        "The registration's `caBundle` holds certificates, and one of them has not expired.",
        "cert-manager's cainjector does not run, or the authority was not renewed.",
        "Look at the Certificate of the authority, and at cainjector's log.",
        (AFTER,),
    ),
    Check(
        "webhook-service",
        ROADSTEAD,
        "webhook has endpoints",
        (ERROR,),
        _of(service),
        "The Service of the webhook is there and has a ready endpoint.",
        "No Pod of the Deployment is ready, or the Service selects others.",
        "Look at the Deployment of the webhook; it is ready once it has a certificate and has "
        "read the definitions.",
        (AFTER,),
    ),
    Check(
        "webhook-certificate",
        ROADSTEAD,
        "webhook's certificate is valid",
        (ERROR, WARNING),
        _of(certificate),
        "The serving certificate is for the Service's name and does not expire within a week.",
        "cert-manager has not renewed it, or it was made for another namespace.",
        "Look at the Certificate `lineage-controller-webhook` and its Issuer.",
        (AFTER,),
    ),
    Check(
        "webhook-answers",
        ROADSTEAD,
        "webhook answers",
        (ERROR,),
        _of(answers),
        "A Secret that is created as a dry run in a tenant's namespace is let through by the "
        "webhook. Nothing is stored.",
        "The webhook cannot be reached, its certificate is not trusted, or it is not ready; the "
        "API server's own words are told.",
        "Mend what the other checks of the webhook name. Until then writes in tenants' namespaces "
        "are refused; in an emergency delete the MutatingWebhookConfiguration `lineage`.",
        (AFTER,),
    ),
)
