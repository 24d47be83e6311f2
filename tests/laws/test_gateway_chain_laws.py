"""What holds of the chain whatever the values and tenants are.

Source: architecture 4, laws 1, 2, 6 and 7; tenant-gateway 2.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway_chain import tenant
from roadstead.capabilities.gateways.api import TENANT_GATEWAY
from roadstead.capabilities.gateways.chain import Chain, Tenant, resolve, tenant_of
from roadstead.capabilities.gateways.chain.names import TENANT
from roadstead.sim.flags import START
from roadstead.sim.requests import By
from roadstead.sim.world import World

NAMES = st.sampled_from(["cilium", "edge-tunnel", "other", " other ", "", "  ", "Cilium"])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
CLASSES = {
    "className": NAMES,
    "tenantSelectableClasses": st.lists(NAMES, max_size=3),
    "edgeTerminatedClasses": st.lists(NAMES, max_size=3),
    "enabled": st.booleans(),
}
CERTIFICATES = {
    "solver": st.sampled_from(["http01", "dns01", "tls01", ""]),
    "issuerName": st.sampled_from(["letsencrypt-prod", "letsencrypt-stage", "zerossl", ""]),
    "wildcardSecretName": st.sampled_from(["", "w"]),
    "dns01": st.fixed_dictionaries(
        {}, optional={"provider": st.sampled_from(["cloudflare", "route53", "rfc2136", "akamai"])}
    ),
}
VALUES = st.builds(
    lambda gateway, certificates, host: {
        "gateway": gateway,
        "publishing": {"certificates": certificates, "host": host},
    },
    st.fixed_dictionaries({}, optional=CLASSES),
    st.fixed_dictionaries({}, optional=CERTIFICATES),
    st.sampled_from(["", "example.org"]),
)
TENANTS = st.lists(
    st.builds(
        tenant,
        st.sampled_from(["root", "a", "b", "a/b", "a/b/c", "gone/x", "a-b"]),
        gateway=st.booleans(),
        chosen=NAMES,
        host=st.sampled_from(["", "own.io"]),
    ),
    unique_by=lambda one: one.ref,
    max_size=6,
)


@given(
    st.dictionaries(st.sampled_from(["gateway", "publishing"]), ANY)
    | st.fixed_dictionaries({"gateway": st.fixed_dictionaries(dict.fromkeys(CLASSES, ANY))}),
    st.dictionaries(st.sampled_from(["gateway", "gatewayClass", "host"]), ANY),
)
def test_any_value_has_an_answer(values: dict[str, Any], spec: dict[str, Any]) -> None:
    """Nothing that YAML can hold makes it raise, and what is refused renders nothing."""
    chain = resolve(values, [tenant_of(TENANT.ref("tenant-root", "a"), {"spec": spec})])

    assert not chain.platform.refusals or chain == Chain(chain.platform)


@given(VALUES, TENANTS, st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(
    values: dict[str, Any], tenants: list[Tenant], order: Any
) -> None:
    """The same tenants give the same rows and refusals."""
    shuffled = list(tenants)
    order.shuffle(shuffled)

    assert resolve(values, tenants) == resolve(values, shuffled)


@given(VALUES, TENANTS, NAMES)
def test_a_tenants_choice_reaches_nobody_beside_or_above_it(
    values: dict[str, Any], tenants: list[Tenant], chosen: str
) -> None:
    """A refusal fails that tenant's own release, and those that inherit from it know it."""
    before = resolve(values, tenants)
    more = resolve(
        values,
        [one for one in tenants if one.namespace != "tenant-z"]
        + [tenant("z", gateway=True, chosen=chosen)],
    )
    rows = {row.place.namespace: row for row in more.rows}

    assert [rows[row.place.namespace] for row in before.rows] == list(before.rows)


@given(VALUES, TENANTS)
def test_what_renders_is_admitted(values: dict[str, Any], tenants: list[Tenant]) -> None:
    """No release fails at the API server for what the chain could have refused."""
    at = World(START)
    for row in resolve(values, tenants).rows:
        if row.rendered is not None and row.rendered.gateway is not None:
            made = at.create(TENANT_GATEWAY, row.rendered.gateway, By.OTHER)

            assert row.mode == made.body["spec"]["certMode"]
