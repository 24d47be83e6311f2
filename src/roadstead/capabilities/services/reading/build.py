"""A definition with its defaults, as the typed model."""

from collections.abc import Mapping
from typing import Any

from roadstead.capabilities.services.api.model import Origin, Service
from roadstead.capabilities.services.api.parts import (
    Auth,
    Client,
    ConfigFile,
    Dependency,
    EnvVar,
    Filter,
    LanHost,
    Observability,
    Port,
    Probes,
    Resources,
    Route,
    Secret,
    Sli,
    Source,
    Storage,
    Update,
    Vm,
)
from roadstead.capabilities.services.api.words import CADENCES

Written = Mapping[str, Any]


def service_of(found: Written, origin: Origin) -> Service:
    """Build a service; set-lists are sorted by what tells their entries apart."""
    source, backup, vm = found["source"], found["backup"], found["vm"]
    return Service(
        name=found["name"],
        origin=origin,
        source=Source(source.get("image", ""), source.get("vmTemplate", "")),
        schema_version=found["schemaVersion"],
        kind=found["kind"],
        exposure=found["exposure"],
        egress=found["egress"],
        dependencies=_dependencies(found["dependencies"]),
        in_cluster_clients=_clients(found["inClusterClients"]),
        storage=_storage(found["storage"]),
        ingress_routes=_routes(found["ingressRoutes"]),
        auth=_auth(found["auth"]),
        update=_update(found["update"]),
        observability=_observability(found["observability"]),
        backup=backup.get("policy", ""),
        ports=_ports(found["ports"]),
        command=_words(found.get("command")),
        args=_words(found.get("args")),
        env=_env(found["env"]),
        config=tuple(
            ConfigFile(one["path"], one["content"], at) for at, one in enumerate(found["config"])
        ),
        secrets=_secrets(found["secrets"]),
        resources=Resources(
            found["resources"].get("requests", {}), found["resources"].get("limits", {})
        ),
        probes=_probes(found["probes"]),
        replicas=found["replicas"],
        workload=found["workload"],
        pod_security_context=found["podSecurityContext"],
        security_context=found["securityContext"],
        pod_security=found.get("podSecurity", ""),
        node_selector=found.get("nodeSelector", {}),
        tolerations=tuple(found["tolerations"]),
        termination_grace_period_seconds=found.get("terminationGracePeriodSeconds"),
        cluster_api=found["clusterApi"],
        direct_ports=_ports(found["directPorts"]),
        lan_egress=_lan(found["lanEgress"]),
        vm=Vm(vm.get("cpu"), vm.get("memory", ""), vm["runStrategy"]),
    )


def _words(found: list[str] | None) -> tuple[str, ...] | None:
    return None if found is None else tuple(found)


def _dependencies(found: list[Written]) -> tuple[Dependency, ...]:
    made = [Dependency(one["to"], one["port"], one["protocol"], at) for at, one in enumerate(found)]
    return tuple(sorted(made, key=lambda one: (one.to, one.port, one.protocol)))


def _clients(found: list[Written]) -> tuple[Client, ...]:
    made = [
        Client(one["namespace"], one["port"], one["protocol"], one["name"], at)
        for at, one in enumerate(found)
    ]
    return tuple(sorted(made, key=lambda one: (one.name, one.namespace, one.port, one.protocol)))


def _storage(found: list[Written]) -> tuple[Storage, ...]:
    made = [
        Storage(
            one["name"],
            one["size"],
            one["class"],
            one["mountPath"],
            one.get("export", ""),
            one.get("subPath", ""),
            one["readOnly"],
            at,
        )
        for at, one in enumerate(found)
    ]
    return tuple(sorted(made, key=lambda one: one.name))


def _routes(found: list[Written]) -> tuple[Route, ...]:
    made = [Route(one["host"], one["port"], one["tls"], at) for at, one in enumerate(found)]
    return tuple(sorted(made, key=lambda one: (one.host, one.port, one.tls)))


def _auth(found: Written) -> Auth:
    return Auth(
        found["mode"],
        tuple(sorted(found["groups"])),
        tuple(sorted(found["redirectPaths"])),
        tuple(sorted(found["skipPaths"])),
    )


def _update(found: Written) -> Update:
    stated = found.get("filter")
    cadence: str = found["cadence"]
    return Update(
        channel=found["channel"],
        range=found.get("range", ""),
        cadence=CADENCES.get(cadence, cadence),
        auto_rollback=found["autoRollbackOnFailedHealth"],
        pin=found.get("pin"),
        filter=Filter(stated["pattern"], stated.get("extract", "")) if stated else None,
        order=found["order"],
    )


def _observability(found: Written) -> Observability:
    made = [
        Sli(one, index=at)
        if isinstance(one, str)
        else Sli(
            one["name"],
            one.get("expr", ""),
            one["for"],
            one["severity"],
            one["summary"],
            at,
            builtin=False,
        )
        for at, one in enumerate(found["slis"])
    ]
    slis = tuple(sorted(made, key=lambda one: one.name))
    return Observability(found["metrics"], slis, found.get("port"), found["path"])


def _ports(found: list[Written]) -> tuple[Port, ...]:
    made = [
        Port(one["port"], one["protocol"], one.get("name", ""), at) for at, one in enumerate(found)
    ]
    return tuple(sorted(made, key=lambda one: (one.port, one.protocol)))


def _env(found: Written) -> tuple[EnvVar, ...]:
    made = [
        EnvVar(name, value=one)
        if isinstance(one, str)
        else EnvVar(name, secret=one["secret"], secret_key=one["key"])
        for name, one in sorted(found.items())
    ]
    return tuple(made)


def _secrets(found: list[Written]) -> tuple[Secret, ...]:
    made = [Secret(one["name"], tuple(sorted(one["keys"])), at) for at, one in enumerate(found)]
    return tuple(sorted(made, key=lambda one: one.name))


def _probes(found: Written) -> Probes:
    """`false` switches a probe off; of those without a default that is the same as none."""
    startup, liveness = found.get("startup"), found.get("liveness")
    return Probes(startup or None, found.get("readiness"), liveness or None)


def _lan(found: list[Written]) -> tuple[LanHost, ...]:
    made = [LanHost(one["cidr"], one["port"], one["protocol"], at) for at, one in enumerate(found)]
    return tuple(sorted(made, key=lambda one: (one.cidr, one.port, one.protocol)))
