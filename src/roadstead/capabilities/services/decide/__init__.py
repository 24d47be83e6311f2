"""Asks every rule of every service, and lays the platform's waivers over the answers.

Nothing stops at the first finding: all problems of all files are told in one run. Source:
contract, section 4.
"""

from collections.abc import Callable, Iterable, Iterator

from roadstead.capabilities.services.api.catalog import Catalog
from roadstead.capabilities.services.api.findings import Finding, in_order
from roadstead.capabilities.services.decide import (
    access,
    edges,
    network,
    running,
    secrets,
    storage,
    update,
)
from roadstead.capabilities.services.decide.needs import platform_has_what_is_used
from roadstead.capabilities.services.decide.waivers import waived
from roadstead.capabilities.services.snapshot import Snapshot

Rule = Callable[[Snapshot], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    edges.kind_and_source_agree,
    edges.name_is_defined_once,
    edges.name_is_not_reserved,
    edges.hosts_are_declared_once,
    edges.file_is_named_after_the_service,
    edges.dependencies_exist,
    edges.dependencies_end,
    edges.dependencies_are_served,
    edges.ports_are_named_apart,
    edges.clients_are_told_apart,
    edges.clients_are_platform_controllers,
    network.vpn_is_used_where_required,
    network.vpn_has_no_open_start,
    network.vpn_has_no_other_way,
    network.vpn_resolves_outside,
    network.lan_hosts_are_of_the_lan,
    storage.export_belongs_to_bulk,
    storage.paths_are_plain,
    storage.mounts_are_apart,
    storage.exports_are_mounted_once,
    storage.fs_group_is_not_relied_on,
    storage.one_pod_holds_a_volume,
    storage.vm_disks_are_block_storage,
    storage.volumes_stay,
    access.login_names_groups,
    access.login_has_a_route,
    access.routes_have_a_login,
    access.oidc_is_narrow,
    access.hosts_are_under_the_domain,
    access.a_route_has_the_name,
    access.public_is_reachable,
    access.routes_lead_to_tcp,
    secrets.values_are_not_written_out,
    secrets.references_are_declared,
    secrets.secrets_are_there,
    update.image_names_a_version,
    update.range_is_a_constraint,
    update.image_is_in_its_range,
    update.versions_are_known,
    update.pin_is_rebuild_safe,
    update.health_is_asked,
    running.metrics_have_a_port,
    running.indicators_can_work,
    running.schedule_exists,
    running.irreplaceable_state_is_backed_up,
    running.template_exists,
    running.vm_states_no_container_fields,
    running.guests_keep_their_cadence,
    running.privileges_are_known,
)
"""Each asks one question of one service; all of them are asked."""


def decide(seen: Snapshot) -> tuple[Finding, ...]:
    """Everything there is to say of one service, before waivers and before it is rendered."""
    return in_order([finding for rule in RULES for finding in rule(seen)])


def judged(
    catalog: Catalog, snapshots: Iterable[Snapshot], further: Iterable[Finding] = ()
) -> tuple[Finding, ...]:
    """Everything there is to say of a catalog, sorted, with its waivers.

    snapshots: one for each of `catalog.everyone`. further: what was found elsewhere, in the files
    and in the output.
    """
    findings = [finding for seen in snapshots for finding in decide(seen)]
    findings += platform_has_what_is_used(catalog)
    return in_order(tuple(waived(catalog.platform, [*findings, *further])))


__all__ = ["RULES", "decide", "judged"]
