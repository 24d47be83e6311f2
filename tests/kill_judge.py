"""What a kill run is judged by: the server's audit log, from its first write to its last."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kill_relay import Way
from kill_writes import BOUNDARIES, NOBODY, Boundary, Key, Meant, Reading, Sent, Step, controller
from roadstead.capabilities.attachments.api.names import ATTACHMENT, CLAIM
from roadstead.kube.names import minted_name
from roadstead.kube.refs import EVENT, SERVICE, Ref

CHANGES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
ROLES = {SERVICE.plural: "service", CLAIM.plural: "claim"}
NONCES = 8
_ACCEPTED, _FORBIDDEN = range(200, 300), 403


@dataclass(frozen=True, slots=True)
class Kill:
    """One SIGKILL. life: of the process that it ended. boundary: None for anywhere else."""

    life: int
    key: Key = NOBODY
    boundary: Boundary | None = None
    way: Way = Way.CUT


@dataclass(frozen=True, slots=True)
class Entry:
    """One write of the audit log. life: of ours, 0 for others'. late: it was kept by the relay."""

    sent: Sent
    code: int
    life: int
    late: bool
    meant: Meant | None

    @property
    def accepted(self) -> bool:
        """Whether the server carried it out."""
        return self.code in _ACCEPTED

    def __str__(self) -> str:
        """Name it in one line."""
        what = f"{self.sent.verb} {self.sent.resource}/{self.sent.part}".rstrip("/")
        return f"life {self.life}: {what} {self.sent.namespace}/{self.sent.name}: {self.code}"


@dataclass
class Judge:
    """Reads one run. ours: the user that our processes are.

    kept: claims of tenants. spares: names of claims that were planted.
    """

    ours: str
    kept: Collection[Ref]
    spares: Collection[str]
    entries: list[Entry] = field(default_factory=list)

    def read(self, log: Iterable[Mapping[str, Any]]) -> None:
        """Take in the writes of a log, in the order of their ends."""
        reading = Reading()
        for one in log:
            if one["verb"] not in CHANGES or not one.get("objectRef", {}).get("namespace"):
                continue
            sent = Sent.of_audit(one)
            ours = one["user"]["username"] == self.ours
            _, _, life = str(one.get("userAgent", "")).partition(" life/")
            number, _, late = life.partition(" ")
            meant = reading.read(sent) if ours or sent.verb == "delete" else None
            code = int((one.get("responseStatus") or {}).get("code", 0))
            entry = Entry(sent, code, int(number) if ours else 0, bool(late), meant)
            self.entries.append(entry)
            if entry.accepted and sent.resource in {*ROLES, ATTACHMENT.plural}:
                reading.note(sent)

    @property
    def of_ours(self) -> list[Entry]:
        """The writes of our processes."""
        return [one for one in self.entries if one.life]

    # which boundaries

    def unshown(self, kills: Iterable[Kill]) -> list[str]:
        """Kills at a boundary for which the log does not show a pass that was cut there."""
        by_key: dict[Key, list[Entry]] = defaultdict(list)
        for one in self.of_ours:
            if one.meant is not None and not one.late:
                by_key[one.meant.key].append(one)
        return [
            f"{kill}: {[str(e) for e in by_key[kill.key] if kill.life <= e.life][:6]}"
            for kill in kills
            if kill.boundary is not None and not _shown(kill, kill.boundary, by_key[kill.key])
        ]

    # zero duplicates

    def duplicates(self) -> list[str]:
        """Every moment at which one attachment had two live Services or two live claims of ours."""
        found = []
        alive: dict[tuple[str, str], set[str]] = defaultdict(set)
        places = {one.sent.namespace for one in self.of_ours}
        for one in self.entries:
            if not one.accepted or one.sent.resource not in ROLES or one.sent.part:
                continue
            if one.sent.namespace not in places:
                continue  # what another test has left is still being emptied
            if one.sent.verb == "deletecollection":
                found.append(f"not understood: {one}")
            elif one.sent.verb == "create" and one.life and (owner := controller(one.sent.body)):
                names = alive[one.sent.resource, owner[1]]
                names.add(one.sent.name)
                if len(names) > 1:
                    found.append(f"{sorted(names)} for one attachment: {one}")
            elif one.sent.verb == "delete" and one.meant is not None:
                alive[one.sent.resource, one.meant.uid].discard(one.sent.name)
        return found

    def alive(self) -> dict[str, set[str]]:
        """What the log leaves alive of what attachments control: `namespace/name` by plural."""
        there: dict[str, set[str]] = {plural: set() for plural in ROLES}
        for one in self.entries:
            if not one.accepted or one.sent.resource not in ROLES or one.sent.part:
                continue
            name = f"{one.sent.namespace}/{one.sent.name}"
            if one.sent.verb == "create" and controller(one.sent.body):
                there[one.sent.resource].add(name)
            elif one.sent.verb == "delete":
                there[one.sent.resource].discard(name)
        return there

    # zero lost claims

    def meddling(self) -> list[str]:
        """What was sent about claims beside minting one's own and dropping what was planted."""
        kept = {(ref.namespace, ref.name) for ref in self.kept}
        found = []
        for one in self.of_ours:
            if one.sent.resource != CLAIM.plural:
                continue
            named = (one.sent.namespace, one.sent.name)
            dropped = one.sent.verb == "delete" and one.sent.name in self.spares
            if named in kept or not (one.sent.verb == "create" or dropped):
                found.append(str(one))
        return found

    def minted_again(self) -> list[str]:
        """Attachments for which more claims were made than somebody else has deleted, and one."""
        made: Counter[str] = Counter()
        deleted: Counter[str] = Counter()
        for one in self.entries:
            if one.sent.resource != CLAIM.plural or not one.accepted or one.meant is None:
                continue
            if one.meant.step is Step.MINT:
                made[one.meant.uid] += 1
            elif not one.life and one.sent.name not in self.spares:
                deleted[one.meant.uid] += 1
        return [uid for uid, times in made.items() if times > 1 + deleted[uid]]

    # every write is safe to come late

    def unsafe(self) -> list[str]:
        """Writes without a uid, a resourceVersion or a deterministic name, or to what is not ours.

        Source: runtime 6, point 9; endpoint-attachments 5.1, O9.
        """
        return [str(one) for one in self.of_ours if one.code == _FORBIDDEN or not _safe(one.sent)]

    def late(self) -> Counter[str]:
        """What became of the writes that came late."""
        return Counter(
            f"{one.meant.step} {'accepted' if one.accepted else f'refused with {one.code}'}"
            for one in self.of_ours
            if one.late and one.meant is not None
        )


def _shown(kill: Kill, boundary: Boundary, entries: list[Entry]) -> bool:
    """Whether a life's last accepted write is the first of a boundary, and the second was owed.

    What was owed is what the next life writes first; an event is owed by the status before it.
    """
    done = [e.meant for e in entries if e.life == kill.life and e.accepted and e.meant]
    if not done or done[-1].step is not boundary.first:
        return False
    if boundary.then is Step.EVENT:
        told = 0
        for meant in done:
            told = told - 1 if meant.step is Step.EVENT else meant.told
        return told > 0
    after = next((e.meant for e in entries if e.life > kill.life), None)
    return after is not None and after.step is boundary.then


def _safe(sent: Sent) -> bool:
    meta = sent.body.get("metadata") or {}
    match sent.resource, sent.verb, sent.part:
        case (ATTACHMENT.plural, "patch", "") | (ATTACHMENT.plural, "update", "status"):
            return bool(meta.get("uid") and meta.get("resourceVersion"))
        case SERVICE.plural, "update", "":
            return bool(meta.get("resourceVersion")) and controller(sent.body) is not None
        case ((SERVICE.plural | CLAIM.plural), "delete", ""):
            return bool((sent.body.get("preconditions") or {}).get("uid"))
        case ((SERVICE.plural | CLAIM.plural), "create", ""):
            return sent.name in _names(sent)
        case EVENT.plural, "create" | "patch", "":
            return "." in sent.name
    return False


def _names(sent: Sent) -> set[str]:
    """The names that may be minted for the attachment that a new object states."""
    owner, prefix = controller(sent.body), sent.body["metadata"].get("generateName", "")
    if owner is None or not prefix:
        return set()
    role = ROLES[sent.resource]
    return {minted_name(prefix, owner[1], role, nonce) for nonce in range(NONCES)}


def table(kills: Collection[Kill], seed: str, late: Mapping[str, int]) -> list[str]:
    """What was killed where, with the seed that does it again."""
    between = [kill for kill in kills if kill.boundary is not None]
    cut = f"{len(between)} of them between two writes of one pass"
    lines = [f"kills: {len(kills)} by SIGKILL, {cut}, seed {seed}"]
    for boundary in BOUNDARIES:
        ways = Counter(kill.way for kill in between if kill.boundary == boundary)
        stated = ", ".join(f"{times} {way}" for way, times in sorted(ways.items()))
        lines.append(f"kills: {ways.total():4} {boundary}: {stated}")
    lines.append(
        f"kills: {len(kills) - len(between):4} elsewhere: at a request of any kind, or at rest"
    )
    answers = ", ".join(f"{times} {what}" for what, times in sorted(late.items()))
    lines.append(f"kills: writes that came late: {answers or 'none'}")
    return lines
