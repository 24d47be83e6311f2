"""The stand-in for cert-manager issues what is asked for, and keeps its keys to itself."""

from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from acting import Acting
from roadstead.capabilities.gateways import api
from roadstead.kube.objects import Object
from roadstead.kube.refs import SECRET
from roadstead.sim.actors import needed
from worlds import body, secret

Json = dict[str, Any]
NAMES = ["a.example.org", "*.example.org"]
LEAF, SECRET_NAME = api.CERTIFICATE.ref("t", "c"), SECRET.ref("t", "s")
ISSUER = body(api.ISSUER, "i", spec={"acme": {"server": "https://acme.example.org"}})
CLUSTER = body(api.CLUSTER_ISSUER, "i", spec={"selfSigned": {}})
READY = {"Ready": "True Ready"}


def a_certificate(name: str = "c", names: list[str] | None = None, **spec: Any) -> Json:
    """A Certificate of the Issuer `i`, into the Secret `s`."""
    stated = {"secretName": "s", "issuerRef": {"name": "i"}, "dnsNames": names or NAMES}
    return body(api.CERTIFICATE, name, spec=stated | spec)


class Authority(Acting):
    """A world over which cert-manager is played."""

    def __init__(self, *objects: Json) -> None:
        """Let it settle over these objects."""
        super().__init__(["certificates"], objects)

    def told(self, name: str = "c") -> dict[str, str]:
        """The conditions of a Certificate: `True Ready` by type."""
        stated = self.status(api.CERTIFICATE, name).get("conditions") or ()
        return {one["type"]: f"{one['status']} {one['reason']}" for one in stated}

    @property
    def secret(self) -> Object:
        """The Secret."""
        return self.get(SECRET, "s")

    @property
    def chain(self) -> list[x509.Certificate]:
        """The certificates in it."""
        return x509.load_pem_x509_certificates(self.secret.decoded("tls.crt") or b"")

    @property
    def key(self) -> bytes:
        """The key in it."""
        return self.secret.decoded("tls.key") or b""


def names_of(one: x509.Certificate) -> list[str]:
    """The hostnames of a certificate."""
    stated = one.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return stated.value.get_values_for_type(x509.DNSName)


def test_a_certificate_becomes_a_real_chain() -> None:
    """The key is that of the first certificate, which the second has signed."""
    at = Authority(ISSUER, a_certificate())

    leaf, authority = at.chain
    leaf.verify_directly_issued_by(authority)
    authority.verify_directly_issued_by(authority)
    assert NAMES == names_of(leaf)
    assert leaf.public_key() == load_pem_private_key(at.key, None).public_key()
    assert "kubernetes.io/tls" == at.secret.body["type"]
    assert ("tls.crt", "tls.key") == at.secret.data_keys()
    assert {
        "cert-manager.io/alt-names": ",".join(NAMES),
        "cert-manager.io/certificate-name": "c",
        "cert-manager.io/issuer-group": "cert-manager.io",
        "cert-manager.io/issuer-kind": "Issuer",
        "cert-manager.io/issuer-name": "i",
    } == at.secret.annotations
    assert {"controller.cert-manager.io/fao": "true"} == at.secret.labels


def test_a_certificate_says_until_when_it_is_valid() -> None:
    """Ninety days, a third of them left at renewal, and how often it was issued."""
    at = Authority(ISSUER, a_certificate())
    status = at.status(api.CERTIFICATE, "c")

    assert READY == at.told()
    assert {
        "notBefore": "2026-01-01T00:00:00Z",
        "notAfter": "2026-04-01T00:00:00Z",
        "renewalTime": "2026-03-02T00:00:00Z",
        "revision": 1,
    } == {key: value for key, value in status.items() if key != "conditions"}
    assert 1 == status["conditions"][0]["observedGeneration"]


def test_every_run_gives_the_same_bytes() -> None:
    """A replay of a world is that world."""
    one, other = (Authority(ISSUER, a_certificate()) for _ in range(2))

    assert one.secret.body["data"] == other.secret.body["data"]


@pytest.mark.parametrize(
    "issuer",
    [ISSUER, CLUSTER],
    ids=["acme", "self-signed"],
)
def test_an_issuer_becomes_ready(issuer: Json) -> None:
    """Of either scope."""
    at = Authority(issuer)
    kind = api.CLUSTER_ISSUER if issuer is CLUSTER else api.ISSUER

    (condition,) = at.status(kind, "i")["conditions"]
    assert ("Ready", "True", 1) == tuple(
        condition[key] for key in ("type", "status", "observedGeneration")
    )


def test_a_self_signed_certificate_is_its_own_authority() -> None:
    """So its Secret holds it once more, as `ca.crt`."""
    ref = {"name": "i", "kind": "ClusterIssuer", "group": "cert-manager.io"}
    at = Authority(CLUSTER, a_certificate(issuerRef=ref, isCA=True))

    (only,) = at.chain
    only.verify_directly_issued_by(only)
    assert at.secret.decoded("ca.crt") == at.secret.decoded("tls.crt")
    assert only.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_other_names_are_issued_anew() -> None:
    """With another key, and the next revision; nothing of it is touched otherwise."""
    at = Authority(ISSUER, a_certificate())
    before = at.key
    at.merge(LEAF, spec={"dnsNames": ["b.example.org"]})

    assert ["b.example.org"] == names_of(at.chain[0])
    assert before != at.key
    assert (READY, 2) == (at.told(), at.status(api.CERTIFICATE, "c")["revision"])
    at.merge(LEAF, metadata={"labels": {"a": "b"}})
    assert 2 == at.status(api.CERTIFICATE, "c")["revision"]


def test_a_secret_that_is_lost_or_broken_comes_back() -> None:
    """Its own event is enough."""
    at = Authority(ISSUER, a_certificate())
    at.delete(SECRET_NAME)
    assert (NAMES, 2) == (names_of(at.chain[0]), at.status(api.CERTIFICATE, "c")["revision"])
    at.merge(SECRET_NAME, data={"tls.crt": "bm9uZQ=="})

    assert (NAMES, 3) == (names_of(at.chain[0]), at.status(api.CERTIFICATE, "c")["revision"])


def test_a_secret_outlives_its_certificate() -> None:
    """Nobody owns it. Source: tenant-gateway 3.5."""
    at = Authority(ISSUER, a_certificate())
    at.delete(LEAF)

    assert at.there(SECRET, "s")
    assert () == at.secret.owners


def test_an_issuer_that_comes_later_issues_what_waits() -> None:
    """Until then the Certificate says whom it waits for, and there is no Secret."""
    at = Authority(a_certificate())
    assert {"Ready": "False IssuerNotReady", "Issuing": "True DoesNotExist"} == at.told()
    assert not at.there(SECRET, "s")
    at.seed(ISSUER)
    at.settle()

    assert (READY, 1) == (at.told(), at.status(api.CERTIFICATE, "c")["revision"])


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        pytest.param([secret()], "False IncorrectCertificate", id="somebodys-secret"),
        pytest.param(
            [a_certificate("a", ["a.example.org"])], "False IncorrectCertificate", id="two-of-one"
        ),
        pytest.param([a_certificate("c", ["é.example.org"])], "False InvalidNames", id="names"),
    ],
)
def test_what_cannot_be_issued_says_so(objects: list[Json], reason: str) -> None:
    """A Secret that was not issued for it is not written to."""
    stated = [one["metadata"]["name"] for one in objects if one["kind"] == "Certificate"]
    at = Authority(ISSUER, *objects, *([] if "c" in stated else [a_certificate()]))

    assert reason == at.told()["Ready"]
    if at.there(SECRET, "s"):
        assert "c" != at.secret.annotations.get("cert-manager.io/certificate-name")


@pytest.mark.parametrize(
    ("issuer", "ref"),
    [
        pytest.param(body(api.ISSUER, "i", spec={"vault": {}}), {"name": "i"}, id="vault"),
        pytest.param(ISSUER, {"name": "i", "group": "x.example.net"}, id="another-project"),
    ],
)
def test_it_is_silent_about_other_issuers(issuer: Json, ref: Json) -> None:
    """They sign with what nobody here has."""
    at = Authority(issuer, a_certificate(issuerRef=ref))

    assert {} == at.told()
    assert not at.there(SECRET, "s")


def test_labels_of_the_template_go_on_the_secret() -> None:
    """Beside those of others."""
    template = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    at = Authority(ISSUER, a_certificate(secretTemplate=template))

    assert ("b", "d") == (at.secret.labels["a"], at.secret.annotations["c"])
    at.merge(SECRET_NAME, metadata={"labels": {"mine": "x"}})
    at.merge(LEAF, spec={"dnsNames": ["b.example.org"]})
    assert ("x", "b") == (at.secret.labels["mine"], at.secret.labels["a"])


def test_no_key_is_shown() -> None:
    """Not by what it remembers, and not by what it wants."""
    at = Authority(ISSUER, a_certificate())
    neighbours = at.settler.neighbours
    assert neighbours is not None

    for text in (repr(neighbours.steps), repr(at.secret), repr(neighbours.engine.stores)):
        assert "PRIVATE KEY" not in text
        assert at.secret.body["data"]["tls.key"] not in text
    stored = [seen for store in neighbours.engine.stores.values() for seen in store.list()]
    assert all(not seen.body for seen in stored if seen.kind == SECRET)


def test_it_acts_where_something_may_ask_for_a_certificate() -> None:
    """A TenantGateway will."""
    for kind in (api.CERTIFICATE, api.ISSUER, api.CLUSTER_ISSUER, api.TENANT_GATEWAY):
        assert ("certificates",) == needed([kind])


def test_nothing_it_does_is_ours() -> None:
    """No request, no pass and no last word of ours; it settles, and writes nothing more."""
    at = Authority(ISSUER, a_certificate())
    version = at.world.store.version
    at.settle()

    assert version == at.world.store.version
    assert ([], []) == (list(at.world.requests.since()), at.settler.steps)
    assert {"Issuer/t/i", "Certificate/t/c", "Secret/t/s"} == {ref.path for ref in at.settler.acted}
