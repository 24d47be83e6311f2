"""`roadstead service explain`: from an object back to its line, or from a field to its objects.

What is printed is what the builders recorded when they made the object; nothing is guessed again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.capabilities.services.api.checks import CHECKS
from roadstead.capabilities.services.api.findings import ERROR, Finding, in_order
from roadstead.capabilities.services.decide import decide
from roadstead.capabilities.services.decide.output import judge_output
from roadstead.capabilities.services.decide.waivers import waived
from roadstead.capabilities.services.package import file_of
from roadstead.capabilities.services.reading.defaults import materialised
from roadstead.capabilities.services.render.effective import render
from roadstead.capabilities.services.render.layer import layer
from roadstead.capabilities.services.render.part import PLATFORM, Rendered
from roadstead.capabilities.services.render.roles import REQUIREMENTS
from roadstead.capabilities.services.snapshot import Snapshot
from roadstead.cli.main import complain
from roadstead.cli.options import Color, NoColor, Output, application, chosen, screen
from roadstead.cli.out import Screen, machine
from roadstead.cli.service.judged import Judged
from roadstead.cli.service.session import (
    Catalogs,
    Core,
    PlatformFile,
    SecretsFolder,
    Session,
    Tree,
    begin,
    uncollected,
)
from roadstead.cli.service.session import chosen as chosen_services
from roadstead.cli.service.told import show, summary
from roadstead.kube.documents import dump
from roadstead.kube.nearest import nearest

EXAMPLES = (
    "roadstead service explain gitea -f catalog/ --platform platform.yaml",
    "roadstead service explain gitea default-deny -f catalog/ --platform platform.yaml",
    "roadstead service explain jellyfin --field storage -f catalog/ --platform platform.yaml",
)
app = application()

FORMATS = ("table", "json", "yaml")
FAILED = 2

Field = Annotated[
    str, typer.Option("--field", metavar="FIELD", help="Tell the objects this field causes.")
]
Defaults = Annotated[
    bool, typer.Option("--defaults", help="Print the definition with its defaults filled in.")
]


@app.command()
def explain(
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Whose objects.")],
    wanted: Annotated[
        str, typer.Argument(metavar="[OBJECT]", help="KIND/NAME, KIND/NAMESPACE/NAME or a name.")
    ] = "",
    *,
    files: Catalogs = None,
    platform: PlatformFile = "",
    field: Field = "",
    defaults: Defaults = False,
    out: Tree = "",
    secrets: SecretsFolder = "",
    core: Core = False,
    output: Output = "",
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Tell which field at which line causes an object, what it is for, and what judged it.

    With --out the images that automation moved there are the ones explained.
    Exit code 1 when no such object or field causes anything.
    """
    page, form = screen(color, no_color), chosen(output, FORMATS)
    with uncollected():
        session = begin(files or (), platform, secrets=secrets, core=core)
        for problem in session.problems:
            complain(problem)
        if defaults and session.catalog is not None:
            (one,) = chosen_services(session.catalog, [service])
            page.write(dump([materialised(one.origin.value, session.catalog.platform)]))
            return 0
        result = _judged(session, service, Path(out) if out else None)
        if result.stops:
            show(page, form, "explain", result.findings, list(result.snapshots))
            page.talk(f"Nothing can be explained: {summary(result.findings)}")
            return FAILED
        told = objects(result, service)
        found = _asked(told, service, wanted, field)
        if not found:
            return _nothing(page, told, service, wanted or field)
        if form != "table":
            page.write(machine(form, "ServiceExplain", _facts(result.snapshots[service], found)))
        elif wanted:
            for each in found:
                _whole(page, result, service, each)
        else:
            _list(page, service, found)
        return 0


def _judged(session: Session, name: str, out: Path | None) -> Judged:
    """One service with those that call it: what else is in the catalog is not asked.

    Raises: InputError for a name the catalog does not have, where nothing is wrong with a file.
    """
    catalog = session.catalog
    about = [one for one in session.findings if one.service in {name, ""}]
    if catalog is None or (catalog.get(name) is None and about):
        return Judged(in_order(session.findings))
    chosen_services(catalog, [name])
    names = {name, *(caller.name for caller, _ in catalog.callers_of(name))}
    seen = {
        one.name: session.snapshot(catalog, one, out)
        for one in catalog.services
        if one.name in names
    }
    found = [*about, *(one for each in seen.values() for one in decide(each))]
    findings = in_order(tuple(waived(catalog.platform, found)))
    own = [one for one in findings if one.service in {name, ""}]
    if any(one.severity == ERROR for one in own):
        return Judged(in_order(own))
    output = render(seen[name])
    findings = in_order((*findings, *judge_output(seen[name], output)))
    told = tuple(one for one in findings if one.severity != ERROR or one.service == name)
    return Judged(told, catalog, seen, {name: output})


def objects(result: Judged, service: str) -> tuple[Rendered, ...]:
    """Every object there is for a service: packaged ones, their package, its Flux layer."""
    output, seen = result.outputs[service], result.snapshots[service]
    both = {one.path: one for one in (*output.effective, *output.folder, layer(seen))}
    return tuple(sorted(both.values(), key=lambda one: one.order))


def _asked(told: Sequence[Rendered], service: str, wanted: str, field: str) -> tuple[Rendered, ...]:
    if field:
        return tuple(one for one in told if _causes(one, service, field))
    if not wanted:
        return tuple(told)
    words = wanted.lower().split("/")
    return tuple(one for one in told if _is(one, words))


def _is(one: Rendered, words: Sequence[str]) -> bool:
    kind, namespace, name = one.kind.kind.lower(), one.namespace.lower(), one.name.lower()
    return list(words) in ([name], [kind, name], [kind, namespace, name])


def _causes(one: Rendered, service: str, field: str) -> bool:
    """Tell whether a field, or one of its entries or parts, caused an object."""
    whole = one.field if one.cause.name == service else f"{one.cause.name}:{one.field}"
    if whole == field:
        return True
    rest = whole.removeprefix(field)
    return rest != whole and rest[:1] in {"[", "."}


def _nothing(page: Screen, told: Sequence[Rendered], service: str, wanted: str) -> int:
    names = [one.path for one in told] + [one.name for one in told] + [one.field for one in told]
    near = nearest(wanted, names, max(2, len(wanted) // 4))
    page.line(f"nothing of service {service} is caused by or called `{wanted}`")
    if near:
        page.line(f"hint: did you mean `{near}`?")
    else:
        page.line(f"hint: roadstead service explain {service} lists its objects")
    return 1


def _list(page: Screen, service: str, found: Sequence[Rendered]) -> None:
    page.table(
        ("OBJECT", "FILE", "CAUSED BY", "AT"),
        [(one.path, file_of(service, one), caused_by(one, service), at(one)) for one in found],
    )


def caused_by(one: Rendered, service: str) -> str:
    """The field path as the annotation has it."""
    return one.field if one.cause.name == service else f"{one.cause.name}:{one.field}"


def at(one: Rendered) -> str:
    """The place of the causing field; of what every service gets, the definition's start."""
    return str(one.cause.place("" if one.field == PLATFORM else one.field))


def _whole(page: Screen, result: Judged, service: str, one: Rendered) -> None:
    held = " inside the HelmRelease" if one.packaged else ""
    page.line(f"{one.kind.kind} {one.path.partition('/')[2]}")
    page.line()
    rows = [
        ("file", f"{file_of(service, one)}{held}"),
        ("caused by", f"{caused_by(one, service)}  {at(one)}"),
    ]
    served = [f"{name}  {REQUIREMENTS[name]}" for name in one.role.requirements]
    rows += [("serves" if not number else "", text) for number, text in enumerate(served)]
    said = _said(result.findings, one)
    rows += [
        ("checked by" if not number else "", _check(name, said.get(name)))
        for number, name in enumerate(one.role.checks)
    ]
    page.columns(rows, indent="  ")
    page.line()


def _said(findings: Sequence[Finding], one: Rendered) -> Mapping[str, Finding]:
    """What the checks that look at an object said of its service."""
    about = {finding.id: finding for finding in findings if finding.service == one.cause.name}
    return {name: about[name] for name in one.role.checks if name in about}


def _check(name: str, said: Finding | None) -> str:
    meaning = CHECKS[name].meaning
    if said is None:
        return f"{name}  {meaning}  ok"
    return f"{name}  {meaning}  {said.severity}: {said.message}"


def _facts(seen: Snapshot, found: Sequence[Rendered]) -> dict[str, Any]:
    name = seen.service.name
    return {
        "service": name,
        "objects": [
            {
                "object": one.path,
                "file": file_of(name, one),
                "packaged": one.packaged,
                "field": caused_by(one, name),
                "place": at(one),
                "requirements": list(one.role.requirements),
                "checks": list(one.role.checks),
            }
            for one in found
        ],
    }
