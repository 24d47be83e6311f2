"""The contract's cases of admission, as data: what is there, what is submitted, what comes of it.

The same table is asked offline and through the real API server. Source: lineage 14; an id with a
letter is one of several rows of the case before it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage_objects import (
    CONFIG,
    HELM,
    NS,
    REPLICA_SET,
    Json,
    body,
    claim,
    data,
    definition,
    deployment,
    given,
    ingress,
    monitor,
    namespace,
    owner,
    pod,
    release,
    replica_set,
    secret,
    service,
    triple,
)
from roadstead.capabilities.lineage import api
from roadstead.kube.refs import HELM_RELEASE

ALL: Json = {"include": [{}]}
UNLABELLED: Mapping[str, None] = dict.fromkeys((*api.TRIPLE, api.TENANT_RESOURCE, api.MANAGED_BY))
GONE = "00000000-0000-0000-0000-00000000dead"


def offering(*include: Any, exclude: Any = None, **more: Any) -> tuple[Json, ...]:
    """Harbor's definition with these entries under `secrets.include`."""
    lists = {"include": list(include), **({} if exclude is None else {"exclude": exclude})}
    return (definition(secrets=lists, **more),)


@dataclass(frozen=True)
class Row:
    """One admission.

    there: what stands before, in order, beside the release `harbor-demo`.
    want: labels that must have this value afterwards, None for those that must not be there.
    warnings: parts of what the writer is told, each in its own warning, and no more.
    """

    id: str
    submit: Json = field(repr=False)
    want: Mapping[str, str | None] = field(default_factory=lambda: given("true"))
    definitions: tuple[Json, ...] = (definition(secrets=ALL),)
    there: tuple[Json, ...] = ()
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    scheduler: str = ""


OTHER = release("harbor-other", triple(name="other"))
ADDON = release("addon", HELM)
CREDENTIALS = offering({"resourceNames": ["{{ .name }}-credentials"]})
NAMES = offering({"resourceNames": ["{{ .kind }}-{{ .name }}-tls", "{{ .namespace }}"]})
BOTH = offering({"matchLabels": {"a": "b"}, "resourceNames": ["n"]})
OWN_BLOCKS = (
    definition(
        secrets={"include": [{"resourceNames": ["no"]}]},
        services={"include": [{"resourceNames": ["s"]}]},
        ingresses={"include": [{"resourceNames": ["{{ .name }}"]}]},
    ),
)
BROKEN = ({"matchExpressions": [{"key": "a", "operator": "Bogus"}]}, {"matchLabels": {"a": "{{ x"}})
GPU = (
    namespace(scheduling="gpu"),
    {"apiVersion": api.SCHEDULING_CLASS.api_version, "kind": api.SCHEDULING_CLASS.kind,
     "metadata": {"name": "gpu"}, "spec": {}},
)  # fmt: skip
CLASSED: Mapping[str, str | None] = {api.SCHEDULING: "gpu"}


def asking(operator: str, values: list[str] | None = None) -> tuple[Json, ...]:
    """Harbor's definition, with one expression over the label `tier`."""
    one: Json = {"key": "tier", "operator": operator}
    return offering({"matchExpressions": [one if values is None else {**one, "values": values}]})


def tiered(value: str) -> Json:
    """A Secret of the application with the label `tier`."""
    return secret(labels={**HELM, "tier": value})


ROWS = (
    Row("C-01", secret()),
    Row("C-01-b", secret(), given("false"), definitions=offering({"resourceNames": ["other"]})),
    Row("C-02", pod(labels={"app": "web"}, owners=[owner(REPLICA_SET, "web")]), given("false"),
        there=(deployment(), replica_set())),
    Row("C-02-b", claim(), given("false")),
    Row("C-02-c", monitor(), given("false")),
    Row("C-03", secret(labels={}, owners=[owner(HELM_RELEASE, "harbor-demo")])),
    Row("C-03-b", secret(labels={}, owners=[owner(HELM_RELEASE, "harbor-demo", version="v2beta2")])),
    Row("C-03-c", secret(labels={}, owners=[owner(HELM_RELEASE, "harbor-demo", GONE)]), UNLABELLED),
    Row("C-04", secret(labels={api.TENANT_RESOURCE: "true"}),
        {**UNLABELLED, api.TENANT_RESOURCE: "true"}),
    Row("C-05", secret(owners=[owner(CONFIG, "gone", GONE)]), UNLABELLED),
    Row("C-06", secret(labels={api.HELM_NAME: "addon", api.HELM_NAMESPACE: NS}), there=(ADDON,)),
    Row("C-06-b", secret(labels={api.HELM_NAME: "harbor-demo"})),
    Row("C-06-c", secret(labels={**HELM, api.HELM_NAMESPACE: "tenant-parent"}), UNLABELLED),
    Row("C-06-d", secret(labels={api.HELM_NAME: "loop"}), UNLABELLED,
        there=(release("loop", {api.HELM_NAME: "loop"}),)),
    Row("C-07", secret(labels={api.HELM_NAME: "harbor-staging"}), UNLABELLED,
        there=(release("harbor-staging"),)),
    *(
        Row(f"C-08-{number}", secret(labels={api.HELM_NAME: "odd-demo"}), UNLABELLED,
            there=(release("odd-demo", labels),), definitions=(definition(secrets=ALL, prefix="odd-"),))
        for number, labels in enumerate((
            {key: value for key, value in triple().items() if key != api.GROUP_LABEL},
            {key: value for key, value in triple().items() if key != api.KIND_LABEL},
            {key: value for key, value in triple().items() if key != api.NAME_LABEL},
            triple(group="example.org"),
            triple(kind="Nobody"),
        ), start=1)
    ),
    Row("C-09", secret(labels={}, owners=[owner(HELM_RELEASE, "harbor-other"),
                                          owner(HELM_RELEASE, "harbor-demo")]),
        given("true", name="other"), there=(OTHER,), warnings=(api.AMBIGUOUS,)),
    Row("C-09-b", secret(labels={}, owners=[owner(CONFIG, "one"), owner(CONFIG, "two")]),
        there=(body(CONFIG, "one", labels=HELM), body(CONFIG, "two", labels=HELM))),
    Row("C-10", secret(labels={**triple("Postgres", "x"), api.TENANT_RESOURCE: "true"},
                       owners=[owner(HELM_RELEASE, "harbor-demo")]),
        given("false"), definitions=offering({"resourceNames": ["no"]})),
    Row("C-11", secret("demo-credentials"), definitions=CREDENTIALS),
    Row("C-11-b", secret("x"), given("false"), definitions=CREDENTIALS),
    Row("C-12", secret("harbor-demo-tls"), definitions=NAMES),
    Row("C-12-b", secret("tenant-demo"), definitions=NAMES),
    Row("C-12-c", secret("demo-ingress-controller"),
        definitions=offering({"resourceNames": ["{{ slice .namespace 7 }}-ingress-controller"]})),
    Row("C-13", secret(labels={**HELM, "a": "b"}), given("false"), definitions=BOTH),
    Row("C-13-b", secret("n"), given("false"), definitions=BOTH),
    Row("C-13-c", secret("n", labels={**HELM, "a": "b"}), definitions=BOTH),
    Row("C-14", secret(), definitions=offering({})),
    Row("C-15", secret(), given("false"), definitions=(definition(secrets={}),)),
    Row("C-15-b", secret(), given("false"), definitions=offering()),
    Row("C-15-c", secret(), given("false"), definitions=(definition(),)),
    Row("C-16", secret(), given("false"), definitions=offering({}, exclude=[{}])),
    Row("C-16-b", secret(), given("false"), definitions=offering({}, exclude=[BROKEN[0]])),
    Row("C-16-c", secret(), given("false"), definitions=offering({}, exclude=[BROKEN[1]])),
    Row("C-16-d", secret(), given("false"),
        definitions=offering({}, exclude=[{"resourceNames": ["{{ .bad"]}])),
    Row("C-16-e", secret(), definitions=offering({}, exclude=[{"resourceNames": ["other"]}])),
    Row("C-16-f", secret(), given("false"), definitions=offering(*BROKEN)),
    Row("C-17", secret(), given("false"), definitions=offering({"resourceNames": []})),
    Row("C-17-b", secret(), definitions=offering({"resourceNames": None})),
    Row("C-18", tiered("x"), definitions=asking("In", ["x", "y"])),
    Row("C-18-b", tiered("z"), given("false"), definitions=asking("In", ["x", "y"])),
    Row("C-18-c", secret(), definitions=asking("NotIn", ["x"])),
    Row("C-18-d", tiered("x"), given("false"), definitions=asking("NotIn", ["x"])),
    Row("C-18-e", tiered("x"), definitions=asking("Exists")),
    Row("C-18-f", secret(), given("false"), definitions=asking("Exists")),
    Row("C-18-g", secret(), definitions=asking("DoesNotExist")),
    Row("C-18-h", tiered("x"), given("false"), definitions=asking("DoesNotExist")),
    Row("C-19", secret("ok"),
        definitions=offering({"resourceNames": ["{{ .bad", "{{ nosuch .name }}", "ok"]})),
    Row("C-20", service(), definitions=OWN_BLOCKS),
    Row("C-20-b", secret(), given("false"), definitions=OWN_BLOCKS),
    Row("C-20-c", ingress("demo"), definitions=OWN_BLOCKS),
    Row("C-20-d", ingress("other"), given("false"), definitions=OWN_BLOCKS),
    Row("C-25", pod(), {**given("false"), **CLASSED}, there=GPU, scheduler=api.SCHEDULER,
        annotations=CLASSED),
    Row("C-25-b", pod(labels={"app": "x"}), {**UNLABELLED, **CLASSED}, there=GPU,
        scheduler=api.SCHEDULER, annotations=CLASSED),
    Row("C-26", pod(), {**given("false"), api.SCHEDULING: None}, there=GPU[:1],
        annotations={api.SCHEDULING: None}, scheduler="default-scheduler"),
    Row("C-28", secret(data=data(password="hunter2")), there=()),
)  # fmt: skip
"""Creations. C-21 to C-24, C-27, C-29 and C-30 are more than one, and stand as tests."""
