"""Reads whether the policies about our own accounts stand as they ship."""

from collections.abc import Iterable, Mapping
from typing import Any

from roadstead.capabilities.gateways.chain.policies import BINDING, POLICY
from roadstead.cli.survey.asking import asked
from roadstead.deploy.account_policies import account_policies
from roadstead.deploy.rbac import Account
from roadstead.explain.checks.facts import Known, Unasked
from roadstead.runtime.client import Client
from roadstead.runtime.wire import collection_of

_KINDS = {one.kind: one for one in (POLICY, BINDING)}
_DEFAULTS: tuple[object, ...] = (None, {}, [], "Equivalent", "*")
"""What the API server writes into a policy where nothing is stated."""


async def survey_policies(
    client: Client, home: str, accounts: Iterable[Account]
) -> Known[Mapping[str, str]]:
    """What is wrong with each policy and each binding of some accounts; empty for nothing."""
    found: dict[str, str] = {}
    for body in account_policies(home, accounts):
        kind = _KINDS[body["kind"]]
        ref = kind.ref("", body["metadata"]["name"])
        there = await asked(f"get {collection_of(kind)}", client.get(ref))
        if isinstance(there, Unasked):
            return there
        if there is None:
            found[str(ref)] = "is not there"
        else:
            same = as_shipped(body["spec"], there.body.get("spec"))
            found[str(ref)] = "" if same else "is not what ships"
    return found


def as_shipped(shipped: Any, there: Any) -> bool:
    """Tell whether what is stored is what was sent, but for what the API server fills in."""
    if isinstance(shipped, Mapping):
        if not isinstance(there, Mapping):
            return False
        stated = all(as_shipped(value, there.get(key)) for key, value in shipped.items())
        return stated and all(there[key] in _DEFAULTS for key in there.keys() - shipped.keys())
    if isinstance(shipped, list):
        if not isinstance(there, list) or len(shipped) != len(there):
            return False
        return all(as_shipped(*pair) for pair in zip(shipped, there, strict=True))
    return bool(shipped == there)
