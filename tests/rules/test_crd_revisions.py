"""The revision of the definitions: one for each set that was ever served."""

import hashlib
import json
from pathlib import Path

import yaml

from roadstead.deploy.crds import REVISION, REVISION_ANNOTATION, crds, revision_of
from roadstead.kube.documents import parse

DATA = Path(__file__).parent.parent / "data"


def digest() -> str:
    """What is served of all definitions, in one word; words for readers count as well."""
    text = json.dumps({name: body["spec"] for name, body in crds().items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_changed_definition_has_a_revision_of_its_own() -> None:
    """Else an old one would pass for the one the program needs.

    After a change within one release, replace the last line; after a release, add one.
    """
    known = yaml.safe_load((DATA / "crd-revisions.yaml").read_text(encoding="utf-8"))

    assert REVISION == max(known)
    assert digest() == known[REVISION], f"deploy/crds.py: revision {REVISION} is {digest()} now"


def test_each_definition_carries_it() -> None:
    """It is read from what is served, one by one."""
    assert {REVISION} == {revision_of(body) for body in crds().values()}


def test_what_states_none_is_the_first() -> None:
    """v0.1.0 had no annotation; text that is no number is nothing that we have written."""
    old = DATA / "v0.1.0/applicationdefinitions.cozystack.io.yaml"
    (document,) = parse(old.read_bytes(), old.name).documents
    assert 1 == revision_of(document.value)

    document.value["metadata"]["annotations"] = {REVISION_ANNOTATION: "next"}

    assert 1 == revision_of(document.value)
