"""The result table is the difference of two readings, for every way a release can end."""

import base64
from dataclasses import replace

import pytest

from certificates import CERT1, CERT2
from roadstead.capabilities.anchors import api
from roadstead.explain.results import Seen, came_to_nothing, results
from roadstead.kube.objects import Object
from roadstead.kube.refs import HELM_RELEASE, SECRET

RELEASE = HELM_RELEASE.ref("tenant-foo", "postgres-mydb")


def secret(name: str, pem: bytes, version: str = "1", **labels: str) -> Object:
    """A Secret as the server shows it."""
    marks = {f"internal.cozystack.io/{key.replace('_', '-')}": v for key, v in labels.items()}
    meta = {
        "name": name,
        "namespace": "tenant-foo",
        "resourceVersion": version,
        "labels": marks,
    }
    data = {"ca.crt": base64.b64encode(pem).decode()}
    return Object.of(SECRET, {"metadata": meta, "data": data})


ANCHOR = secret("postgres-mydb.tenant-ca", CERT1, ca_cert_copy="true")
FOREIGN = secret("postgres-mydb.tenant-ca", CERT1)
SOURCE = secret("postgres-mydb-ca", CERT1)
OUT = secret("postgres-mydb-ca", CERT1, publish_ca_cert="false")
SEEN = Seen(RELEASE, ANCHOR, SOURCE)
NONE = Seen(RELEASE, None, None)


def told(seen: Seen) -> Seen:
    """The same with an event."""
    return replace(seen, reason="CACertInvalid", message="it is junk")


@pytest.mark.parametrize(
    ("first", "last", "word", "reason"),
    [
        pytest.param(SEEN, SEEN, "published", api.PUBLISHED, id="published"),
        pytest.param(NONE, SEEN, "published", api.PUBLISHED, id="appeared"),
        pytest.param(
            SEEN,
            replace(SEEN, anchor=secret("postgres-mydb.tenant-ca", CERT2, ca_cert_copy="true")),
            "rotated",
            api.PUBLISHED,
            id="rotated",
        ),
        pytest.param(SEEN, replace(NONE, source=OUT), "withdrawn", api.WITHDRAWN, id="withdrawn"),
        pytest.param(SEEN, told(SEEN), "kept", "CACertInvalid", id="kept"),
        pytest.param(NONE, told(NONE), "refused", "CACertInvalid", id="refused"),
        pytest.param(
            replace(NONE, anchor=FOREIGN),
            replace(NONE, anchor=FOREIGN, reason="CACertSecretCollision"),
            "left alone",
            "CACertSecretCollision",
            id="foreign",
        ),
        pytest.param(
            replace(NONE, anchor=FOREIGN),
            replace(NONE, anchor=secret("postgres-mydb.tenant-ca", CERT2, "2")),
            "changed",
            "-",
            id="foreign-touched",
        ),
        pytest.param(NONE, NONE, "waiting", "-", id="nothing"),
    ],
)
def test_each_end_has_its_word(first: Seen, last: Seen, word: str, reason: str) -> None:
    """The word follows from what the server showed, nothing else."""
    (found,) = results({RELEASE: first}, {RELEASE: last})
    assert (word, reason) == (found.word, found.reason)
    assert came_to_nothing([found]) is (word == "waiting")
