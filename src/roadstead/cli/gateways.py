"""`roadstead gateways resolve|render`: from platform values and tenants to each tenant's Gateway.

Files alone; what is printed is the decision's own trail.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from roadstead.capabilities.gateways.api import GATEWAY_CLASS
from roadstead.capabilities.gateways.chain import Chain, Row, Tenant, resolve, tenant_of
from roadstead.capabilities.gateways.chain.findings import MEANINGS
from roadstead.capabilities.gateways.chain.names import ROOT_HOST, TENANT, VALUES_NAMESPACE
from roadstead.cli import inputs
from roadstead.cli.options import (
    Color,
    Files,
    NoColor,
    Output,
    Quiet,
    application,
    chosen,
    screen,
)
from roadstead.cli.out import Cell, Screen, as_json, machine, tell
from roadstead.cli.streams import stdin
from roadstead.decision import Finding
from roadstead.deploy.platform import BY_DEFAULT, PARTS, manifests, packed
from roadstead.errors import InputError
from roadstead.explain.world import UnreadableWorldError
from roadstead.kube.documents import Document, dump
from roadstead.kube.nearest import did_you_mean
from roadstead.kube.refs import CONFIG_MAP
from roadstead.sim.flags import START
from roadstead.sim.kinds import Kinds
from roadstead.sim.load import STANDARD_INPUT, Placed, load

EXAMPLES = (
    "roadstead gateways resolve --platform-values cozystack-platform.yaml -f tenants/",
    "roadstead gateways render --platform-values cozystack-platform.yaml -f tenants/",
    "roadstead gateways render --platform-values cozystack-platform.yaml --part issuers",
    "roadstead gateways render --platform-values cozystack-platform.yaml -f tenants/ --out chain/",
)
app = application()

VERBS = ("resolve", "render")
FORMATS = {"resolve": ("table", "json", "yaml"), "render": ("yaml", "json")}

Values = Annotated[
    str,
    typer.Option(
        "--platform-values",
        metavar="FILE",
        help="The platform's values, as YAML; `-` for standard input.",
    ),
]
Part = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        metavar="PART",
        help=f"Of `render` this part alone: {', '.join(PARTS)}. Repeatable.",
    ),
]

Out = Annotated[
    str,
    typer.Option(
        "--out", metavar="DIR", help="Write what `render` prints there, one file for each part."
    ),
]


@dataclass(frozen=True, slots=True)
class Told:
    """One finding as it is printed. about: the object or file. place: `file:line:column`."""

    finding: Finding
    about: str
    place: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """For machines."""
        return {
            "rule": self.finding.rule,
            "reason": self.finding.reason,
            "message": self.finding.message,
            "about": self.about,
            "place": self.place,
        }


@dataclass(frozen=True, slots=True)
class Read:
    """What the files hold. installed: GatewayClasses; None where none is in them."""

    values: Document
    objects: Mapping[str, Placed]
    tenants: tuple[Tenant, ...]
    root_host: str
    installed: frozenset[str] | None


@app.command()
def gateways(
    what: Annotated[str, typer.Argument(metavar="|".join(VERBS), help="What to print.")],
    *,
    platform_values: Values = "",
    files: Files = None,
    part: Part = None,
    out: Out = "",
    output: Output = "",
    quiet: Quiet = False,
    color: Color = "auto",
    no_color: NoColor = False,
) -> int:
    """Print where each tenant's TLS ends and why, or the manifests that follow from it.

    The files hold Tenants; GatewayClasses among them are what is installed, and the ConfigMap
    cozy-system/cozystack has the root host. `render` prints issuers, policies and gateways;
    other parts by name. Exit code 1 when anything is refused. Formats: table, json, yaml;
    of `render` yaml, json.
    """
    if what not in VERBS:
        raise InputError(f"gateways cannot `{what}`", hint=f"use {' or '.join(VERBS)}")
    form = chosen(output, FORMATS[what])
    page = screen(color, no_color, quiet=quiet)
    if not platform_values:
        raise InputError("the platform's values are not given", hint="name them: --platform-values")
    parts = _parts(what, part or ())
    if out and what != "render":
        raise InputError("--out is of `gateways render`")
    read = _read(platform_values, files or ())
    chain = resolve(
        _values_of(read.values),
        read.tenants,
        root_host=read.root_host,
        installed=read.installed,
    )
    refused, noticed = list(_refused(chain, read)), [_told(one, read) for one in chain.remarks]
    if what == "render":
        if out:
            _save(page, Path(out), chain, parts)
        else:
            _render(page, form, chain, parts)
        for one in (*refused, *noticed):
            _talk(page, one)
    elif form == "table":
        _table(page, chain, refused, noticed)
    else:
        facts = _facts(chain, refused, noticed)
        page.write(machine(form, "GatewayChain", facts))
    return 1 if refused else 0


def _parts(what: str, asked: Sequence[str]) -> tuple[str, ...]:
    """What of the manifests is printed, in their order.

    Raises: InputError.
    """
    if asked and what != "render":
        raise InputError("--part is of `gateways render`")
    for one in asked:
        if one not in PARTS:
            hint = did_you_mean(one, PARTS, f"use {', '.join(PARTS)}")
            raise InputError(f"there is no part `{one}`", hint=hint)
    return tuple(one for one in PARTS if one in (asked or BY_DEFAULT))


def _read(values_file: str, paths: Sequence[str]) -> Read:
    """Read everything; every problem of every file is told.

    Raises: UnreadableWorldError.
    """
    problems: list[InputError] = []
    if values_file == STANDARD_INPUT and STANDARD_INPUT in paths:
        raise InputError("standard input is named twice", place=STANDARD_INPUT)
    values = _document(values_file, problems)
    loaded = load(paths, Kinds((TENANT,)), START, stdin)
    problems += loaded.problems
    if problems or values is None:
        raise UnreadableWorldError(problems)
    tenants = [tenant_of(one.ref, one.body) for one in loaded.objects if one.ref.kind == TENANT]
    classes = {one.ref.name for one in loaded.objects if one.ref.kind == GATEWAY_CLASS}
    return Read(
        values,
        {one.ref.path: one for one in loaded.objects},
        tuple(tenants),
        _root_host(loaded.objects),
        frozenset(classes) or None,
    )


def _document(path: str, problems: list[InputError]) -> Document | None:
    """The platform's values; what is wrong with them goes to the problems."""
    try:
        text = stdin() if path == STANDARD_INPUT else inputs.read(path)
    except InputError as error:
        problems.append(error)
        return None
    found, wrong = inputs.platform_values(text, path)
    problems += wrong
    return found


def _values_of(document: Document) -> Mapping[str, Any]:
    values: Mapping[str, Any] = document.value
    return values


def _root_host(objects: Iterable[Placed]) -> str:
    """What the platform's ConfigMap says of the root host; empty where it says nothing."""
    ref = CONFIG_MAP.ref(VALUES_NAMESPACE, "cozystack")
    found = next((one.body.get("data") for one in objects if one.ref == ref), None)
    stated = found.get(ROOT_HOST) if isinstance(found, Mapping) else None
    return stated if isinstance(stated, str) else ""


def _refused(chain: Chain, read: Read) -> Iterator[Told]:
    for refusal in chain.platform.refusals:
        place = str(read.values.place_of(*refusal.path))
        yield Told(refusal.finding, "platform values", place)
    for finding in chain.refusals:
        yield _told(finding, read, chain.rows)


def _told(finding: Finding, read: Read, rows: Sequence[Row] = ()) -> Told:
    """Say where the object stands that was judged: of a TenantGateway, the Tenant that asks."""
    if not finding.refs:
        return Told(finding, "platform values", read.values.place.file)
    first = finding.refs[0]
    tenant = next((row.place.tenant.ref for row in rows if _made(row) == first.path), first)
    there = read.objects.get(tenant.path)
    return Told(finding, str(tenant), str(there.place) if there else "")


def _made(row: Row) -> str:
    """The TenantGateway that a refused release would have made."""
    refusal = row.rendered.refusal if row.rendered else None
    return refusal.refs[0].path if refusal else ""


def _table(page: Screen, chain: Chain, refused: Sequence[Told], noticed: Sequence[Told]) -> None:
    if chain.rows:
        page.table(
            ("TENANT", "CLASS", "MODE", "TLS-ENDS", "WHY"), [_cells(row) for row in chain.rows]
        )
    _block(page, "Refused", "red", refused, spaced=bool(chain.rows))
    _block(page, "Noticed", "yellow", noticed, spaced=bool(chain.rows or refused))


def _cells(row: Row) -> tuple[str | Cell, ...]:
    mode = Cell("refused", "red") if row.refused else Cell(row.mode or "-", "")
    ref = row.place.tenant.ref
    why = "see below" if row.refused else row.why
    return (ref.key, row.gateway_class or "-", mode, row.tls_ends or "-", why)


def _block(page: Screen, title: str, style: str, told: Sequence[Told], *, spaced: bool) -> None:
    if not told:
        return
    if spaced:
        page.line()
    page.line(page.paint(f"{title} ({len(told)}):", style))
    for one in told:
        head = f"{one.place}  {one.about}" if one.place else one.about
        page.line(f"  {head}  {page.paint(one.finding.reason, style)}")
        page.sentence(one.finding.message, "    ")


def _talk(page: Screen, one: Told) -> None:
    """Say beside the manifests what is not in them."""
    where = f"  {one.place or one.about}"
    if one.finding.reason and one.finding.verdict == "refuse":
        tell(page.stderr, f"refused: {one.finding.message}")
        tell(page.stderr, where)
    else:
        page.talk(f"noticed: {one.finding.message}")
        page.talk(where)


def _facts(chain: Chain, refused: Sequence[Told], noticed: Sequence[Told]) -> dict[str, Any]:
    told = sorted({one.finding.reason for one in (*refused, *noticed)})
    return {
        "cluster": dict(chain.platform.cluster),
        "tenants": [_row_facts(row) for row in chain.rows],
        "refused": [one.facts for one in refused],
        "noticed": [one.facts for one in noticed],
        "meanings": {reason: MEANINGS[reason] for reason in told},
    }


def _row_facts(row: Row) -> dict[str, Any]:
    return {
        "tenant": row.place.tenant.ref.key,
        "namespace": row.place.namespace,
        "host": row.place.host,
        "gateway": row.place.owner,
        "class": row.gateway_class,
        "mode": row.mode,
        "tlsEnds": row.tls_ends,
        "why": row.why,
        "refused": row.refused,
    }


def _render(page: Screen, form: str, chain: Chain, parts: Sequence[str]) -> None:
    """Print the manifests; of what is refused there are none."""
    bodies = [] if chain.platform.refusals else list(manifests(chain, parts))
    if form == "json":
        page.write(as_json("List", {"items": bodies}).replace("cli.roadstead/v1", "v1", 1))
    else:
        page.write(dump(bodies))


def _save(page: Screen, folder: Path, chain: Chain, parts: Sequence[str]) -> None:
    """Write the manifests; where the platform is refused, none.

    Raises: InputError.
    """
    files = {} if chain.platform.refusals else packed(chain, parts)
    for name, bodies in files.items():
        file = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(dump(bodies), encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", place=str(file)) from None
    page.talk(f"Wrote {len(files)} {'file' if len(files) == 1 else 'files'} to {folder}")
