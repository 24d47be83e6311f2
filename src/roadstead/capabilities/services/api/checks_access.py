"""The checks of network, storage, routes, identity and Secrets. Source: contract 4.2."""

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
    SECRETS as _SECRETS,
)
from roadstead.capabilities.services.api.check import (
    Check,
)
from roadstead.capabilities.services.api.findings import ERROR, INFO, POLICY, WARNING

ACCESS_CHECKS = (
    Check(
        "P-NET-01",
        (ERROR,),
        "A service that must use the VPN does not.",
        "It is in `egress.vpn.requiredFor`, and its egress is not `vpn`.",
        "Set `egress: vpn`.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-NET-02",
        (WARNING,),
        "A pod of the VPN class may send before it is steered.",
        "`egress.vpn.ipPool` is not set, so the start-up window of the egress gateway is open.",
        "Give the platform a pool of addresses that are not masqueraded, and name it "
        "in `egress.vpn.ipPool`.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-NET-03",
        (ERROR,),
        "A service of the VPN class has another way out or in.",
        "`directPorts` and `lanEgress` go around the tunnel.",
        "Remove them, or take another egress class.",
    ),
    Check(
        "P-NET-04",
        (ERROR,),
        "A policy admits far more than any field can ask for.",
        "An entity `all` or `cluster` was rendered, or `world`, `host` or "
        "`remote-node` where it has no place.",
        "Render again; report it as a fault of the renderer if it stays.",
        looks_at=_OUTPUT,
    ),
    Check(
        "P-NET-05",
        (ERROR,),
        "A policy holds an empty list or rule, which Cilium may read as `everything`.",
        "An object that was rendered, or edited since, has a rule without peers or ports.",
        "Render again; report it as a fault of the renderer if it stays.",
        looks_at=_OUTPUT,
    ),
    Check(
        "P-NET-06",
        (INFO,),
        "Names are resolved outside the tunnel.",
        "Pods of the VPN class ask the cluster's resolver, which does not use the VPN.",
        "Nothing, unless the names asked for are themselves a secret.",
    ),
    Check(
        "P-STO-01",
        (ERROR,),
        "A volume's class and its `export` do not belong together.",
        "`bulk` needs an export, and `longhorn` has none.",
        "State `export` on bulk volumes alone.",
    ),
    Check(
        "P-STO-02",
        (ERROR,),
        "A path is not of the form that is needed.",
        "It is not absolute or relative as its field asks, not normalised, or holds "
        "`..`, `:` or a control character.",
        "Write the path out, without `.`, `..`, doubled or trailing slashes.",
    ),
    Check(
        "P-STO-03",
        (ERROR,),
        "Two things are mounted at one path.",
        "Two volumes, or a volume and a file of `config`, have the same path.",
        "Change one of the two paths.",
    ),
    Check(
        "P-STO-05",
        (WARNING,),
        "One export is mounted twice.",
        "Two mounts of one export are two file systems: hardlinks and atomic moves "
        "between them fail.",
        "Mount the common ancestor once.",
    ),
    Check(
        "P-STO-06",
        (WARNING,),
        "`fsGroup` changes nothing on an NFS volume.",
        "The NFS volume has no ownership management, so the container's own user must "
        "be able to write.",
        "Run as a user that the export admits, or map users on the server.",
    ),
    Check(
        "P-STO-08",
        (ERROR,),
        "Several pods would share a volume that only one can hold.",
        "`replicas` is above 1 on a Deployment with a longhorn volume.",
        "Set `workload: StatefulSet`, which gives each pod a volume of its own, or one replica.",
    ),
    Check(
        "P-STO-09",
        (ERROR,),
        "A virtual machine cannot mount a bulk volume.",
        "Class `bulk` is NFS, which a pod mounts and a guest does not.",
        "Take class `longhorn`, or mount the export within the guest.",
    ),
    Check(
        "P-STO-11",
        (ERROR,),
        "A volume would shrink or change its class.",
        "Kubernetes neither shrinks a claim nor moves it to another class.",
        "Keep the size and class, or add a volume under another name and move the data.",
        looks_at=_PREVIOUS,
    ),
    Check(
        "P-STO-12",
        (WARNING,),
        "A volume is no longer defined, and its claim stays.",
        "The claim is guarded against pruning, so nobody manages it any more.",
        "Delete the claim by hand once its data is no longer needed, or put the entry back.",
        looks_at=_PREVIOUS,
    ),
    Check(
        "P-RTE-01",
        (ERROR,),
        "A host is not one label below the platform's domain.",
        "The wildcard certificate covers exactly one label.",
        "Take a host LABEL.DOMAIN.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-RTE-02",
        (INFO,),
        "No route has the service's own name.",
        "Routes exist, but none is NAME.DOMAIN.",
        "Nothing, if the name is meant to differ.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-RTE-03",
        (WARNING,),
        "A public service has nothing that is public.",
        "There is neither a route nor a direct port.",
        "Add one, or set `exposure: internal`.",
    ),
    Check(
        "P-RTE-04",
        (ERROR,),
        "A route leads to a UDP port.",
        "`ports` declares the route's port for UDP alone, and routes speak TCP.",
        "Declare the TCP port, or lead the route elsewhere.",
    ),
    Check(
        "P-RTE-05",
        (WARNING,),
        "Whoever forwards the Gateway's port publishes internal hosts, too.",
        "The service is public, and the Gateway has no listener for public routes alone.",
        "Give the Gateway a second listener, forward that one, and name it in "
        "`gateway.publicListener`.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-IDP-01",
        (
            POLICY,
            WARNING,
        ),
        "A route has no login at all.",
        "auth.mode is `none` and there are routes; with a public exposure everybody may enter.",
        "Take `forward-auth`, or waive the finding with a reason.",
    ),
    Check(
        "P-IDP-02",
        (POLICY,),
        "A service keeps its own login without being a known exception.",
        "auth.mode is `native`, there are routes, and the service is not in "
        "`identity.nativeAllowed`.",
        "Take `oidc` or `forward-auth`, or add the service to the exceptions.",
        looks_at=_PLATFORM,
    ),
    Check(
        "P-IDP-03",
        (WARNING,),
        "Every path of the host may receive a login's answer.",
        "`auth.redirectPaths` is not stated, so `/*` is registered.",
        "State the one path the application uses.",
    ),
    Check(
        "P-IDP-04",
        (ERROR,),
        "A login is asked for, but there is no route to log in at.",
        "auth.mode is `oidc` or `forward-auth` and `ingressRoutes` is empty.",
        "Add a route, or set `auth.mode: none`.",
    ),
    Check(
        "P-IDP-05",
        (INFO,),
        "The application itself must hold to the groups.",
        "In mode `oidc` the groups are put into the token and nothing checks them on the way.",
        "Configure the application to admit these groups alone.",
    ),
    Check(
        "P-SEC-01",
        (POLICY,),
        "A Secret the service needs is not there.",
        "No encrypted file for it is in the secrets folder.",
        "Make it with `roadstead service secret template`, encrypt it with sops, and commit it.",
        looks_at=_SECRETS,
    ),
    Check(
        "P-SEC-02",
        (ERROR,),
        "A Secret is not encrypted.",
        "A value of the file, or all of it, is plain text; nothing at all is written "
        "while that is so.",
        "Encrypt it: `sops --encrypt --in-place FILE`; and change the secret, since "
        "it was readable.",
        looks_at=_SECRETS,
    ),
    Check(
        "P-SEC-03",
        (ERROR,),
        "A file of the secrets folder holds another Secret than its name says.",
        "Kind, name, namespace or a key differs, or what Flux must read is encrypted.",
        "Correct the file, and encrypt `data` and `stringData` alone.",
        looks_at=_SECRETS,
    ),
    Check(
        "P-SEC-04",
        (POLICY,),
        "A variable that looks like a secret has its value in the definition.",
        "The name holds a word such as PASSWORD or TOKEN, and the value is written out.",
        "Declare the value under `secrets` and refer to it: `{secret: NAME, key: KEY}`.",
    ),
    Check(
        "P-SEC-05",
        (ERROR,),
        "A variable refers to a Secret that is not declared.",
        "`secrets` has no entry of that name, or the entry has not that key.",
        "Declare the name and the key under `secrets`.",
    ),
)
