"""The checks of updates, watching, backup, machines and the output. Source: contract 4.2."""

from roadstead.capabilities.services.api.check import (
    OUTPUT as _OUTPUT,
)
from roadstead.capabilities.services.api.check import (
    PLATFORM as _PLATFORM,
)
from roadstead.capabilities.services.api.check import (
    PREVIOUS as _PREVIOUS,
)
from roadstead.capabilities.services.api.check import (
    Check,
)
from roadstead.capabilities.services.api.findings import ERROR, INFO, POLICY, WARNING

RUNNING_CHECKS = (
    Check(
        "P-UPD-01",
        (
            ERROR,
            POLICY,
        ),
        "An image does not say which version it is.",
        "It has neither tag nor digest, or its tag is one that moves.",
        "State a version's tag, or add the digest.",
    ),
    Check(
        "P-UPD-02",
        (
            ERROR,
            WARNING,
        ),
        "The range and the image do not go together.",
        "The range is not a constraint, does not belong to the order, or does not "
        "admit the image's own tag.",
        "Write a constraint such as `~1.24`, and one that admits the version of `source.image`.",
    ),
    Check(
        "P-UPD-03",
        (ERROR,),
        "It is not known which versions may be chosen.",
        "There is no range, and the tag is not of the form X.Y.Z.",
        "Set `update.range` with `update.filter`, or pin the service.",
    ),
    Check(
        "P-UPD-04",
        (WARNING,),
        "A pin depends on the output tree.",
        "`pin: true` freezes what the tree holds, so a tree made anew may hold another version.",
        "Pin a tag.",
    ),
    Check(
        "P-UPD-05",
        (WARNING,),
        "A failed update is not noticed.",
        "Rollback is on, but there is no probe, so health means that the process has started.",
        "State a probe, or a port.",
    ),
    Check(
        "P-UPD-06",
        (INFO,),
        "Rollback has no effect on a virtual machine.",
        "The guest updates itself, and nothing goes back.",
        "Nothing; snapshots of the disk are the way back.",
    ),
    Check(
        "P-UPD-07",
        (POLICY,),
        "Prereleases may be chosen.",
        "A bound of the range has a prerelease part, which admits others.",
        "Take a range without one.",
    ),
    Check(
        "P-UPD-08",
        (ERROR,),
        "Automation has no tag to go by.",
        "The image has a digest alone.",
        "Add a tag, or pin the service.",
    ),
    Check(
        "P-OBS-01",
        (WARNING,),
        "Metrics are on, but nothing is scraped.",
        "No port is known: neither `observability.port`, nor a route, nor a TCP port of `ports`.",
        "State `observability.port`, or set `metrics: false`.",
    ),
    Check(
        "P-OBS-02",
        (ERROR,),
        "An indicator cannot work.",
        "It is no builtin one, has no expression, or needs a metrics port or a longhorn volume.",
        "Take a builtin one of the hint, or give an `expr`.",
    ),
    Check(
        "P-BAK-01",
        (ERROR,),
        "A backup schedule is not defined.",
        "`backup.policy` names no key of `backup.schedules`.",
        "Take one of the keys, or `reacquirable`.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-BAK-02",
        (INFO,),
        "Only objects are backed up.",
        "There is a schedule, but no durable volume.",
        "Nothing, or leave the policy out.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-VM-01",
        (ERROR,),
        "An image of virtual machines is not defined.",
        "`source.vmTemplate` is no key of `vmTemplates`.",
        "Take the key of the hint, or define it.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-VM-02",
        (ERROR,),
        "The first boot's instructions are too long.",
        "KubeVirt refuses inline user data above 2048 bytes.",
        "Take fewer or shorter SSH keys in the template, or fewer volumes.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-VM-03",
        (ERROR,),
        "A field says nothing about a virtual machine.",
        "The field shapes a container.",
        "Remove the field.",
    ),
    Check(
        "P-VM-04",
        (WARNING,),
        "Existing guests keep their update interval.",
        "cloud-init acts once for each instance, so a changed cadence reaches a guest "
        "when it is rebuilt.",
        "Change the timer within the guest, or rebuild it.",
        looks_at=_PREVIOUS,
    ),
    Check(
        "P-VM-05",
        (ERROR,),
        "A volume's name is too long for a disk's serial.",
        "A serial has at most 20 characters.",
        "Shorten the name.",
    ),
    Check(
        "P-PSA-01",
        (POLICY,),
        "A workload may have the node.",
        "Pod Security `privileged`, or a privileged container, was asked for.",
        "Remove it, or waive the finding with a reason.",
    ),
    Check(
        "P-SUB-01",
        (ERROR,),
        "Flux would replace a text that is not a variable of the platform.",
        "The object must keep one variable and holds another `${`.",
        "Remove the `${` from the field that brings it.",
        looks_at=_OUTPUT,
    ),
    Check(
        "P-SIZE-01",
        (ERROR,),
        "An object is too large for the API server.",
        "As JSON it exceeds 1,000,000 bytes.",
        "Shorten what it is made of, such as `config`.",
        looks_at=_OUTPUT,
    ),
    Check(
        "P-OUT-01",
        (ERROR,),
        "A rendered object does not fit the schema of its kind.",
        "The bundled schema refuses a field or a value.",
        "Correct the field it comes from; report it as a fault of the renderer if there is none.",
        looks_at=_OUTPUT,
    ),
    Check(
        "P-WAI-01",
        (WARNING,),
        "A waiver accepts a finding that is not there.",
        "No policy or warning finding of that check and service came up.",
        "Remove the waiver.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-WAI-02",
        (ERROR,),
        "A waiver names what cannot be accepted.",
        "The check is an error, or does not exist.",
        "Remove the waiver, and mend what the check finds.",
        looks_at=_PLATFORM,
    ),
)
