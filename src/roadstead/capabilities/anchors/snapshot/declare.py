"""From a definition to the source it declares and the digest it leaves. Source: 4.2 and 7.4."""

import hashlib
from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.anchors import api
from roadstead.capabilities.anchors.snapshot.facts import Declaration
from roadstead.kube import names
from roadstead.kube.objects import Object, canonical
from roadstead.kube.templates import TemplateError, render
from roadstead.settings import CaSource


def selectors_digest(secrets: Any) -> str:
    """SHA-256, full hex, of a definition's `spec.secrets`; absent lists count as empty.

    Source: trust-anchors 7.4.
    """
    stated = dict(secrets) if isinstance(secrets, Mapping) else {}
    for part in ("include", "exclude"):
        if stated.get(part) is None:
            stated[part] = []
    return hashlib.sha256(canonical(stated)).hexdigest()


def declare(entry: object, release: Object, where: str) -> Declaration:
    """Render a declaration for one release. Total: a problem is part of the answer.

    entry: the engine table's entry, or `spec.caCert` of a definition as it was stored.
    Source: trust-anchors 4.2.
    """
    template: Any
    key: Any
    if isinstance(entry, CaSource):
        template, key = entry.source_secret_name, entry.source_key
    else:
        stated = entry if isinstance(entry, Mapping) else {}
        template, key = stated.get("sourceSecretName"), stated.get("sourceKey", "")
    if not isinstance(template, str) or not template.strip():
        return Declaration("", "", where, "sourceSecretName is missing or no text")
    if not isinstance(key, str | None):
        return Declaration("", "", where, "sourceKey is no text")
    variables = {
        "name": release.labels.get(api.NAME_LABEL, ""),
        "kind": release.labels.get(api.KIND_LABEL, "").lower(),
        "namespace": release.meta.namespace,
        "release": release.meta.name,
    }
    try:
        secret = render(template, variables, strict=True).strip()
    except TemplateError as error:
        return Declaration("", "", where, f"sourceSecretName does not render: {error.message}")
    key = (key or "").strip() or api.KEY
    if not names.is_subdomain(secret):
        return Declaration("", key, where, "sourceSecretName does not render to a Secret's name")
    if not names.is_data_key(key):
        return Declaration("", "", where, "sourceKey is no key of a Secret")
    return Declaration(secret, key, where)
