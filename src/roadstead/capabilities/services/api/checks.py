"""Every check by its id. Source: contract 1.6, 4.1 and 4.2.

The reference and `roadstead docs` are written from here.
"""

from collections.abc import Mapping

from roadstead.capabilities.services.api.check import OUTPUT, PLATFORM, Check
from roadstead.capabilities.services.api.checks_access import ACCESS_CHECKS
from roadstead.capabilities.services.api.checks_running import RUNNING_CHECKS
from roadstead.capabilities.services.api.findings import ERROR, POLICY, WARNING

SCHEMA_CHECKS = (
    Check(
        "S-01",
        (ERROR,),
        "A key is no field here.",
        "The key is misspelt, or stands at another depth than its field.",
        "Take the field of the hint, or move the key to where the reference has it.",
    ),
    Check(
        "S-02",
        (ERROR,),
        "A value has another type than its field.",
        "Nothing is converted: `pin: 1.10` would otherwise silently become 1.1.",
        "Quote a text that looks like a number, and write numbers and booleans without quotes.",
    ),
    Check(
        "S-03",
        (ERROR,),
        "A field that has no default is missing.",
        "The field is required where it is asked for.",
        "State the field.",
    ),
    Check(
        "S-04",
        (ERROR,),
        "A value has not the form its field asks for.",
        "The rule of the field is in the message, in words.",
        "Write the value in that form.",
    ),
    Check(
        "S-05",
        (ERROR,),
        "A value is none of the words its field knows.",
        "Words are compared with their case; the message lists them all.",
        "Take one of the listed words.",
    ),
    Check(
        "S-06",
        (ERROR,),
        "A number, or a range of addresses, is outside its limits.",
        "The limits of the field are in the message.",
        "Take a value within them.",
    ),
    Check(
        "S-08",
        (ERROR,),
        "A key comes twice in one mapping.",
        "Only one of the two values could hold, and which is not said.",
        "Remove one of the two.",
    ),
    Check(
        "S-09",
        (ERROR,),
        "Two entries of a list are the same.",
        "The entries are equal in the keys that tell them apart.",
        "Remove one of the two, or change what tells them apart.",
    ),
    Check(
        "S-10",
        (ERROR,),
        "The file is written against a version this renderer does not read.",
        "schemaVersion is newer than 1.5, or of another major version.",
        "Use a newer renderer, or state the version whose fields the file uses.",
    ),
    Check(
        "S-11",
        (ERROR,),
        "A field is newer than the version the file declares.",
        "A renderer of the declared version would not know the field.",
        "Raise schemaVersion to the one in the message.",
    ),
    Check(
        "S-12",
        (ERROR,),
        "The file is not a definition at all.",
        "It is not YAML, is empty, holds a list or several documents, uses tags or merge keys, "
        "or is more than a definition may be.",
        "The reason is in the message; write one mapping of plain values, as UTF-8.",
    ),
    Check(
        "S-13",
        (ERROR,),
        "A field beyond the core schema is used, and --core was given.",
        "With --core a catalog is held to what every renderer of schema 1.5.0 knows.",
        "Remove the field, or leave --core out.",
    ),
)

INVARIANTS = (
    Check(
        "I-1",
        (ERROR,),
        "Kind and source do not belong together.",
        "A container comes from `source.image` alone, a vm from `source.vmTemplate` alone.",
        "State the one that belongs to the kind, and not the other.",
    ),
    Check(
        "I-2",
        (ERROR,),
        "A login is asked for, but nobody in particular is admitted.",
        "auth.mode `oidc` or `forward-auth` needs at least one group.",
        "Name groups under `auth.groups`, or set `identity.defaultGroups` and leave the mode out.",
        PLATFORM,
    ),
    Check(
        "I-3",
        (ERROR,),
        "The default deny of a namespace is missing or changed.",
        "An object that was rendered, or edited since, is not what the contract fixes.",
        "Render again; report it as a fault of the renderer if it stays.",
        OUTPUT,
    ),
    Check(
        "I-4",
        (ERROR,),
        "The VPN class is not enforced outside the workload.",
        "A policy of the service opens another way out, or the pod could make one for itself.",
        "Render again; report it as a fault of the renderer if it stays.",
        OUTPUT,
    ),
    Check(
        "I-5",
        (ERROR,),
        "A host is not covered by the wildcard certificate.",
        "A route is attached elsewhere than to the HTTPS listener, or its host is more than one "
        "label below the platform's domain.",
        "Take a host of one label below the domain, or `tls: dedicated`.",
        OUTPUT,
    ),
    Check(
        "I-6",
        (POLICY,),
        "State that cannot be replaced has no off-cluster backup.",
        "A vm, a longhorn volume or an entry of `backup.irreplaceable` needs a schedule.",
        "Set `backup.policy` to one of the platform's schedules.",
        PLATFORM,
    ),
)

CATALOG_CHECKS = (
    Check(
        "P-CAT-01",
        (ERROR,),
        "Two definitions have one name.",
        "The name is the namespace, so both would render the same objects.",
        "Rename one of the two.",
    ),
    Check(
        "P-CAT-02",
        (ERROR,),
        "The name belongs to the platform.",
        "`default`, `kube-*` and every namespace the platform file names are reserved.",
        "Take another name.",
        PLATFORM,
    ),
    Check(
        "P-CAT-03",
        (ERROR,),
        "Two routes have one host.",
        "The host would lead to one of them by chance.",
        "Change the host of one of the two.",
    ),
    Check(
        "P-CAT-04",
        (ERROR,),
        "Two rendered objects are the same object.",
        "Group, kind, namespace and name of both are equal.",
        "Change the entry that names one of them.",
        OUTPUT,
    ),
    Check(
        "P-CAT-05",
        (WARNING,),
        "A file is named after another service.",
        "The file's name differs from the name of the one definition in it.",
        "Rename the file.",
    ),
    Check(
        "P-DEP-01",
        (ERROR,),
        "A dependency leads nowhere.",
        "`to` names neither a catalog service nor one of `platformServices`.",
        "Take the name of the hint, or define the service.",
        PLATFORM,
    ),
    Check(
        "P-DEP-02",
        (ERROR,),
        "A service depends on itself.",
        "Pods of one service reach each other under no policy of this contract.",
        "Remove the entry.",
    ),
    Check(
        "P-DEP-03",
        (ERROR,),
        "Services depend on each other in a circle.",
        "Flux would wait for all of them for ever, and does not say so.",
        "Remove one edge of the circle that the message shows.",
    ),
    Check(
        "P-DEP-04",
        (ERROR,),
        "A dependency names a port that is not served.",
        "The callee lists its `ports`, and this one is neither there nor that of a route or of "
        "a direct client.",
        "Call one of the listed ports, or add it to the callee's `ports`.",
    ),
    Check(
        "P-DEP-05",
        (ERROR,),
        "A dependency names a port that the platform's service does not list.",
        "`platformServices` has every port that may be called.",
        "Call one of the listed ports, or add it to the platform file.",
        PLATFORM,
    ),
    Check(
        "P-ICC-01",
        (ERROR,),
        "Two direct clients would make one policy.",
        "The policy is named after the entry, by default after its namespace.",
        "Set `name` on one of the two.",
    ),
    Check(
        "P-ICC-02",
        (ERROR,),
        "A direct client has the name of one of the renderer's own policies.",
        "`auth`, `direct` and `gateway` are taken.",
        "Set another `name`.",
    ),
    Check(
        "P-ICC-03",
        (ERROR,),
        "A direct client is a service of the catalog.",
        "Between catalog services the caller declares the edge.",
        "Declare it under `dependencies` of that service.",
    ),
    Check(
        "P-ICC-04",
        (POLICY,),
        "A direct client is no namespace of platform controllers.",
        "Every pod of the namespace is admitted, and it is not in `network.clientNamespaces`.",
        "Add the namespace to the platform file, or waive the finding with a reason.",
        PLATFORM,
    ),
)

ALL_CHECKS = (*SCHEMA_CHECKS, *INVARIANTS, *CATALOG_CHECKS, *ACCESS_CHECKS, *RUNNING_CHECKS)
CHECKS: Mapping[str, Check] = {one.id: one for one in ALL_CHECKS}
"""By id."""
