"""A toy capability for the tests of the offline driver: it copies ConfigMaps into Secrets."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from roadstead.decision import Cached, Decision, Drop, Event, Finding, Reader, Verdict, Want
from roadstead.kube.objects import Object
from roadstead.kube.refs import CONFIG_MAP, SECRET, Ref
from roadstead.kube.views import Form, View
from roadstead.sim.cases import read_case, run_case
from roadstead.wiring import Controller, Watch

SOURCES = View("sources", CONFIG_MAP, labels="toy")


COPIES = View("copies", SECRET, Form.METADATA)


@dataclass(frozen=True)
class Seen:
    """A source and its copy."""

    source: Object
    copy: Object | None

    @property
    def value(self) -> str:
        """What is copied, or a word that says what to do."""
        return str((self.source.body.get("data") or {}).get("value", ""))


async def observe(reader: Reader, key: Ref) -> Seen | None:
    """Read both."""
    source = reader.get(SOURCES, key.namespace, key.name)
    if source is None:
        return None
    return Seen(source, await reader.live_get(SECRET.ref(key.namespace, f"{key.name}-copy")))


def decide(seen: Seen) -> Decision:
    """Copy, refuse, wait or withdraw, as the value says."""
    source, copy = seen.source, seen.copy
    if seen.value == "refuse":
        event = Event(source.ref, source.meta.uid, "ToyRefused", "it says so")
        finding = Finding("usable", Verdict.REFUSE, "ToyRefused", "it says so", (source.ref,))
        return Decision(
            events=(event,), findings=(finding,), state="Refused", recheck=timedelta(minutes=5)
        )
    if seen.value == "wait":
        return Decision(
            findings=(Finding("usable", Verdict.WAIT, "ToyWaits"),), recheck=timedelta(seconds=30)
        )
    if not seen.value:
        gone = Drop(copy.ref, copy.meta.uid, copy.meta.resource_version) if copy else None
        return Decision(drop=(gone,) if gone else (), findings=(Finding("usable", Verdict.PASS),))
    return Decision(want=(wanted(seen),), findings=(Finding("usable", Verdict.PASS),))


def wanted(seen: Seen, value: str = "") -> Want:
    """The copy of a source."""
    source = seen.source
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": source.meta.name,
        "uid": source.meta.uid,
    }
    meta: dict[str, Any] = {"name": f"{source.meta.name}-copy", "namespace": source.meta.namespace}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque"}
    if seen.copy is not None:
        meta = {**seen.copy.body["metadata"], **meta}
        body = {**seen.copy.body, "metadata": meta}
    meta["ownerReferences"] = [owner]
    body["data"] = {"value": b64encode((value or seen.value).encode()).decode()}
    return Want.replace(SECRET, body, seen.copy)


def itself(seen: Object, _cached: Cached) -> Iterator[Ref]:
    """A source wakes itself."""
    yield seen.ref


def its_source(seen: Object, _cached: Cached) -> Iterator[Ref]:
    """A copy wakes its source."""
    yield CONFIG_MAP.ref(seen.meta.namespace, seen.meta.name.removesuffix("-copy"))


TOY = Controller(
    name="toy",
    component="toy-controller",
    watches=(Watch(SOURCES, itself), Watch(COPIES, its_source)),
    observe=observe,
    decide=decide,
    report=lambda _seen, decision, _outcomes: decision,
)


KNOWN: Mapping[str, Controller] = {"toy": TOY}


WORLD = """
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: t, labels: {toy: "yes"}}
data: {value: one}
"""


def contrary(name: str, value: str) -> Controller:
    """A controller that insists on its own value."""

    def insist(seen: Seen) -> Decision:
        return Decision(want=(wanted(seen, value),))

    return Controller(name, name, TOY.watches, observe, insist, TOY.report)


def case(folder: Path, steps: str, want: str = "{}", world: str = WORLD, **files: str) -> str:
    """Play a case made of these files; gives its differences, a line each."""
    texts = {"world": world, "steps": steps, "want": want, **files}
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    result = run_case(read_case(folder, known=KNOWN))
    return result.skipped or "\n".join(str(one) for one in result.differences)
