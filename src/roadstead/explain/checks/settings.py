"""Checks of what a person states against what the cluster has. Source: tenant-gateway 9."""

from roadstead.capabilities.gateways.chain import cluster_of, remarks
from roadstead.capabilities.gateways.chain.findings import CLASS_NOT_FOUND, did_you_mean
from roadstead.explain.checks.check import ERROR, OK, SETTINGS, Check, Found, unasked
from roadstead.explain.checks.facts import Facts, Unasked

_FLAG = "attachmentTenantClasses"


def values(seen: Facts) -> Found | None:
    """The platform's values can be carried to the tenants."""
    if seen.stated.values is None:
        return None
    refused = tuple(
        f"{seen.stated.where}: {one.finding.message}"
        for one in cluster_of(seen.stated.values).refusals
    )
    return Found(ERROR, "nothing is rendered from them", refused) if refused else Found(OK)


def class_names(seen: Facts) -> Found | None:
    """Every class that the platform's values name is installed."""
    if seen.stated.values is None:
        return None
    if isinstance(seen.classes, Unasked):
        return unasked(seen.classes)
    platform = cluster_of(seen.stated.values)
    if platform.refusals:
        return None  # `platform-values` says so
    told = remarks(platform.cluster, installed=seen.classes)
    wrong = [one.message for one in told if one.reason == CLASS_NOT_FOUND]
    return _named(wrong, "GatewayClass", seen.classes)


def address_classes(seen: Facts) -> Found | None:
    """Every address class that tenants may name is installed."""
    if not seen.stated.tenant_classes:
        return None
    if isinstance(seen.address_classes, Unasked):
        return unasked(seen.address_classes)
    there = seen.address_classes
    wrong = [
        f"{_FLAG} names `{name}`, and no IPAddressClass is called so{did_you_mean(name, there)}"
        for name in sorted(seen.stated.tenant_classes - there)
    ]
    return _named(wrong, "IPAddressClass", there)


def _named(wrong: list[str], kind: str, there: frozenset[str]) -> Found:
    if wrong:
        return Found(ERROR, "a tenant on such a class is never served", tuple(wrong))
    return Found(OK, f"{kind} {', '.join(sorted(there))}")


SETTING_CHECKS = (
    Check(
        "platform-values",
        SETTINGS,
        "the platform's values",
        (ERROR,),
        values,
        "The file of `--platform-values` holds values that tenants' gateways can be made of.",
        "A value is refused; its place in the file is named.",
        "Mend the value; `roadstead gateways resolve` says what comes of it.",
    ),
    Check(
        "class-names",
        SETTINGS,
        "GatewayClasses that the platform's values name",
        (ERROR,),
        class_names,
        "Each class under `gateway` of the platform's values is one that is installed.",
        "A name is misspelt, or its class comes later.",
        "Take the name of the hint, or install the class first.",
    ),
    Check(
        "address-class-names",
        SETTINGS,
        "address classes that tenants may name",
        (ERROR,),
        address_classes,
        "Each class of `attachmentTenantClasses` is one that is installed.",
        "A name is misspelt, or the class is gone.",
        "Take the name of the hint, or create the IPAddressClass.",
    ),
)
