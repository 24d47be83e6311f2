"""From a reason to the next step: commands that clear a refusal, worded from what was found.

Every line can be typed as it stands; a line that needs new content takes it from a file that the
reader supplies, `ca.pem` for certificates. A test runs each of them in the offline world.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from roadstead.capabilities.anchors import api
from roadstead.decision import Decision, Finding, Verdict
from roadstead.explain.commands import GRANT, annotate, apply, delete, label, patch
from roadstead.explain.subject import Next
from roadstead.explain.trail import warnings, with_recheck
from roadstead.kube.names import is_data_key
from roadstead.kube.refs import SECRET, Ref
from roadstead.settings import CaSource

SUPPLIED = "ca.pem"
"""The file a reader supplies where only new certificates help."""
SUPPLIED_RELEASE = "helmrelease.yaml"
SUPPLIED_TABLE = "ca-sources.yaml"
SOURCE_TEMPLATES = {"MongoDB": "{{ .release }}-ca-cert"}
USUAL_TEMPLATE = "{{ .release }}-ca"
"""Where an engine keeps its CA when nothing better is known. Source: trust-anchors 4.4."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a next step is worded with; empty where it could not be read.

    definition: of the release's kind. kind: the application kind.
    declared: whether a declaration names the source; table: the engine table's entry, where it is
        that one. source: where the CA is lifted from, `key`
        under which name, `usable` the keys of it that hold certificates alone.
    releases: the application releases of the namespace.
    quota: a quota that has no room for one more Secret, and the limit that would have.
    """

    definition: Ref | None = None
    kind: str = ""
    declared: bool = False
    table: CaSource | None = None
    source: Ref | None = None
    key: str = api.KEY
    usable: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    quota: "Full | None" = None


@dataclass(frozen=True, slots=True)
class Full:
    """A quota without room. name: of the limit it states. hard: what would be enough."""

    ref: Ref
    name: str
    hard: int


Step = Callable[[Ref, Finding, Known], tuple[Next, ...]]


def next_steps(key: Ref, decision: Decision, known: Known) -> tuple[Next, ...]:
    """What a person may do about a refusal or a warning, the best first."""
    last = decision.findings[-1] if decision.findings else None
    if last is not None and last.verdict is Verdict.REFUSE:
        return steps_of(key, last, known)
    for event in warnings(decision):
        about = Finding("", Verdict.REFUSE, event.reason, event.message, (event.about,))
        return steps_of(key, about, known)
    return ()


def steps_of(key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    """What a person may do about one refusal."""
    step = STEPS.get(finding.reason)
    return step(key, finding, known) if step else ()


def wakes(key: Ref, decision: Decision) -> str:
    """What will have a key looked at again, in words."""
    last = decision.findings[-1] if decision.findings else None
    word = last.reason if last is not None and last.verdict is Verdict.WAIT else decision.state
    about = last.refs[0].path if last is not None and last.refs else key.path
    told = WAKES.get(word, "")
    if not told:
        return ""
    text = told.format(about=about, release=key.path, namespace=key.namespace)
    return with_recheck(text, decision)


WAKES: dict[str, str] = {
    "Ignored": "a change of the labels of {release} wakes it",
    "DefinitionUnknown": "an ApplicationDefinition of its kind wakes it",
    "SourceAbsent": "the creation of {about} wakes it",
    "SourceEmpty": "a value in {about} wakes it",
    "NothingToDo": "a Secret that opts in for {release}, or a declaration, wakes it",
    "HeldAfterSourceLoss": "the return of {about} wakes it",
    "CanonicalSelf": "a change of {about} wakes it",
    "Terminating": "the end of {about} wakes it",
    "NamespaceTerminating": "nothing; it ends with its namespace",
    "ReadFailed": "it is tried again with growing pauses",
    "WriteFailed": "it is tried again with growing pauses",
    "Published": "a change of its source, its anchor or its definition wakes it",
    "Withdrawn": "a source that opts in, or a declaration, wakes it",
}


def _other_content(_key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    """The value will not do: select another key, or replace the value alone."""
    source = known.source or finding.refs[0]
    if not is_data_key(known.key):
        return (_select(source, api.KEY, known),)
    usable = tuple(name for name in known.usable if name != known.key)
    replaced = Next(
        (_replace_value(source, known.key),),
        f"{SUPPLIED} holds certificates alone; the other keys of the Secret stay",
    )
    if not usable:
        return (replaced,)
    return (_select(source, usable[0], known), *_restart(known), replaced)


def _new_content(_key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    source = known.source or finding.refs[0]
    command = _replace_value(source, known.key)
    return (Next((command,), f"{SUPPLIED} holds the new CA; the anchor follows"),)


def _select(source: Ref, name: str, known: Known) -> Next:
    if known.declared and known.definition is not None:
        declared = {"sourceKey": name}
        if known.table is not None:
            # A declaration of the definition takes the entry's place whole.
            declared["sourceSecretName"] = known.table.source_secret_name
        return Next(
            (patch(known.definition, {"spec": {"caCert": declared}}),),
            f"`{name}` holds certificates alone; this is for every release of `{known.kind}`",
        )
    command = f"{annotate(source)} {api.PUBLISH_KEY}={name} --overwrite"
    return Next((command,), f"`{name}` holds certificates alone")


def _collision(_key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    if finding.rule == "declaration-usable":
        return _declaration(_key, finding, known)
    command = delete(finding.refs[0])
    return (Next((command,), "the anchor then takes the name; see first who uses the Secret"),)


def _declaration(_key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    if known.definition is None:
        return ()
    declared = {"sourceSecretName": _template(known), "sourceKey": api.KEY}
    command = patch(known.definition, {"spec": {"caCert": declared}})
    effect = f"for every release of `{known.kind}`; name the engine's own Secret"
    return (Next((command,), effect), *_restart(known))


def _restart(known: Known) -> tuple[Next, ...]:
    """Where the engine table declares, its file is the place to mend."""
    if known.table is None:
        return ()
    command = f"roadstead run --ca-sources-file {SUPPLIED_TABLE}"
    effect = f"with the entry `{known.table.kind}` mended; all other flags as before"
    return (Next((command,), effect),)


def _ambiguous(_key: Ref, finding: Finding, _known: Known) -> tuple[Next, ...]:
    kept, *others = finding.refs
    commands = tuple(f"{label(ref)} {api.PUBLISH}-" for ref in others)
    return (Next(commands, f"{kept.path} is then the source"),)


def _own_name(_key: Ref, finding: Finding, _known: Known) -> tuple[Next, ...]:
    """The engine writes its anchor itself, against the contract."""
    anchor = finding.refs[0]
    labelled = f"{label(anchor)} {api.TENANT_CA}=true --overwrite"
    _, _, stated = finding.message.partition("against the contract: ")
    if stated.startswith("its label"):
        return (Next((labelled,), "tenants can then read it"),)
    commands = (delete(anchor), _create_secret(anchor, api.KEY), labelled)
    effect = f"{SUPPLIED} holds certificates alone; the engine must write its key elsewhere"
    return (Next(commands, effect),)


def _attributable(key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    opt_out = Next((f"{label(key)} {api.PUBLISH}-",), "it is then no source")
    named = [name for name in known.releases if key.name.startswith(f"{name}-")]
    if not named and len(known.releases) == 1:
        named = list(known.releases)
    if not named:
        return (opt_out,)
    release = max(named, key=len)
    command = f"{label(key)} {api.PUBLISH_RELEASE}={release}"
    return (Next((command,), f"it is then the source of {release}"), opt_out)


def _gone(key: Ref, finding: Finding, _known: Known) -> tuple[Next, ...]:
    source = finding.refs[0]
    commands = (
        _create_secret(source, api.KEY),
        f"{label(source)} {api.PUBLISH}=true {api.PUBLISH_RELEASE}={key.name}",
    )
    anchor = SECRET.ref(key.namespace, key.name + api.SUFFIX)
    return (
        Next(commands, f"{SUPPLIED} holds the CA; the anchor follows"),
        Next((delete(anchor),), "the release then has no anchor"),
    )


def _unsupported(key: Ref, _finding: Finding, _known: Known) -> tuple[Next, ...]:
    commands = (apply(SUPPLIED_RELEASE), delete(key))
    effect = f"{SUPPLIED_RELEASE} is the release under a name without a dot; move its data between"
    return (Next(commands, effect),)


def _denied(_key: Ref, _finding: Finding, known: Known) -> tuple[Next, ...]:
    if known.quota is None:
        return (GRANT,)
    full = known.quota
    hard = {"spec": {"hard": {full.name: str(full.hard)}}}
    return (Next((patch(full.ref, hard),), "there is then room for the anchor"),)


def _held(key: Ref, finding: Finding, known: Known) -> tuple[Next, ...]:
    allow = f"roadstead run --allow-withdrawals {known.kind or 'KIND'}"
    return (
        *_declaration(key, finding, known),
        Next((allow,), "where the anchors are to go; all other flags as before"),
    )


STEPS: dict[str, Step] = {
    "CACertPrivateKeyRefused": _other_content,
    "CACertInvalid": _other_content,
    "CACertSourceKeyMissing": _other_content,
    "CACertExpired": _new_content,
    "CACertSecretCollision": _collision,
    "CACertDeclarationInvalid": _declaration,
    "CACertSourceAmbiguous": _ambiguous,
    "CACertCanonicalNameOccupied": _own_name,
    "CACertCanonicalNameContract": _own_name,
    "CACertSourceUnattributable": _attributable,
    "CACertSourceGone": _gone,
    "CACertReleaseNameUnsupported": _unsupported,
    "CACertWriteDenied": _denied,
    "CACertWithdrawalsHeld": _held,
}
"""The way on for each reason that only a person can clear."""


def _template(known: Known) -> str:
    return SOURCE_TEMPLATES.get(known.kind, USUAL_TEMPLATE)


def _replace_value(ref: Ref, key: str) -> str:
    return f"{_create_secret(ref, key)} --dry-run=client -o yaml | kubectl apply -f -"


def _create_secret(ref: Ref, key: str) -> str:
    """A key may be any text that somebody put into an annotation: it is quoted."""
    file = shlex.quote(f"--from-file={key}={SUPPLIED}")
    return f"kubectl create secret generic {ref.name} -n {ref.namespace} {file}"
