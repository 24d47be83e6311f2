// Command cilium asks Cilium's own code about policies: one JSON request a line in, one answer a
// line out.
//
//	{"object": {...}}                           does the agent's parser take this policy
//	{"policies": [...], "ends": {...}, "flows": [...]}  what does its repository decide for each flow
//
// An end is a pod, an address outside the cluster, or a reserved identity. Nothing here knows who
// wrote the policies.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/cilium/cilium/pkg/identity"
	"github.com/cilium/cilium/pkg/identity/identitymanager"
	ipcachetypes "github.com/cilium/cilium/pkg/ipcache/types"
	"github.com/cilium/cilium/pkg/k8s"
	v2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	networkingv1 "github.com/cilium/cilium/pkg/k8s/slim/k8s/api/networking/v1"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/api"
	"github.com/cilium/cilium/pkg/policy/types"
	"github.com/cilium/cilium/pkg/policy/utils"
	"github.com/cilium/cilium/pkg/u8proto"

	"roadstead.dev/tools/lines"
)

const (
	clusterName = "default"
	namespaced  = "io.kubernetes.pod.namespace"
	firstPod    = 1000
)

var quiet = slog.New(slog.DiscardHandler)

type end struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Address   string            `json:"address"`
	Reserved  string            `json:"reserved"`
}

type flow struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Port     uint16 `json:"port"`
	Protocol string `json:"protocol"`
}

type request struct {
	Object   json.RawMessage   `json:"object"`
	Policies []json.RawMessage `json:"policies"`
	Ends     map[string]end    `json:"ends"`
	Flows    []flow            `json:"flows"`
}

type verdict struct {
	Egress  bool `json:"egress"`
	Ingress bool `json:"ingress"`
}

type answer struct {
	Accepted bool      `json:"accepted"`
	Reason   string    `json:"reason,omitempty"`
	Verdicts []verdict `json:"verdicts,omitempty"`
}

// noMetrics stands for the agent's counters.
type noMetrics struct{}

func (noMetrics) AddRule(types.PolicyEntry) {}
func (noMetrics) DelRule(types.PolicyEntry) {}

// read gives the entries that the agent would import from one object.
func read(raw json.RawMessage) (types.PolicyEntries, ipcachetypes.ResourceID, error) {
	var head struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, "", err
	}
	id := ipcachetypes.ResourceID(head.Kind + "/" + head.Metadata.Namespace + "/" + head.Metadata.Name)
	switch head.Kind {
	case "NetworkPolicy":
		var found networkingv1.NetworkPolicy
		if err := json.Unmarshal(raw, &found); err != nil {
			return nil, id, err
		}
		entries, err := k8s.ParseNetworkPolicy(quiet, clusterName, &found)
		return entries, id, err
	case "CiliumNetworkPolicy":
		var found v2.CiliumNetworkPolicy
		if err := json.Unmarshal(raw, &found); err != nil {
			return nil, id, err
		}
		rules, err := found.Parse(quiet, clusterName)
		if err != nil {
			return nil, id, err
		}
		return utils.RulesToPolicyEntries(rules), id, nil
	}
	return nil, id, fmt.Errorf("not a policy: %q", head.Kind)
}

// identities gives each end the identity that the agent would give it.
func identities(ends map[string]end) (map[string]*identity.Identity, error) {
	found := make(map[string]*identity.Identity, len(ends))
	next := identity.NumericIdentity(firstPod)
	for name, one := range ends {
		next++
		switch {
		case one.Reserved != "":
			id := identity.GetReservedID(one.Reserved)
			if found[name] = identity.LookupReservedIdentity(id); found[name] == nil {
				return nil, fmt.Errorf("end %s: no reserved identity is called %q", name, one.Reserved)
			}
		case one.Namespace == "":
			address, err := netip.ParseAddr(one.Address)
			if err != nil {
				return nil, fmt.Errorf("end %s: %w", name, err)
			}
			whole := labels.GetCIDRLabels(netip.PrefixFrom(address, address.BitLen()))
			found[name] = identity.NewIdentity(next|identity.IdentityScopeLocal, whole)
		default:
			whole := labels.Map2Labels(one.Labels, labels.LabelSourceK8s)
			whole[namespaced] = labels.NewLabel(namespaced, one.Namespace, labels.LabelSourceK8s)
			cluster := "io.cilium.k8s.policy.cluster"
			whole[cluster] = labels.NewLabel(cluster, clusterName, labels.LabelSourceK8s)
			meta := "io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name"
			whole[meta] = labels.NewLabel(meta, one.Namespace, labels.LabelSourceK8s)
			found[name] = identity.NewIdentity(next, whole)
		}
	}
	return found, nil
}

// judge imports the policies into a repository of its own and looks every flow up.
func judge(asked request) ([]verdict, error) {
	known, err := identities(asked.Ends)
	if err != nil {
		return nil, err
	}
	all := identity.IdentityMap{}
	for _, one := range known {
		all[one.ID] = one.LabelArray
	}
	manager := identitymanager.NewIDManager(quiet)
	repository := policy.NewPolicyRepository(quiet, all, nil, nil, manager, noMetrics{})
	repository.UpdateIdentities(all, nil)
	for _, raw := range asked.Policies {
		entries, id, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		repository.ReplaceByResource(entries, id)
	}
	found := make([]verdict, 0, len(asked.Flows))
	for _, one := range asked.Flows {
		protocol, err := u8proto.ParseProtocol(one.Protocol)
		if err != nil {
			return nil, err
		}
		from, to := known[one.From], known[one.To]
		if from == nil || to == nil {
			return nil, fmt.Errorf("flow %+v names an unknown end", one)
		}
		asking := types.Flow{From: from, To: to, Proto: protocol, Dport: one.Port}
		result, _, _, err := policy.LookupFlow(quiet, repository, manager, asking)
		if err != nil {
			return nil, fmt.Errorf("flow %+v: %w", one, err)
		}
		found = append(found, verdict{
			Egress:  result.Egress == types.DecisionAllowed,
			Ingress: result.Ingress == types.DecisionAllowed,
		})
	}
	return found, nil
}

func answered(asked request) (answer, error) {
	if asked.Object != nil {
		_, _, err := read(asked.Object)
		return answer{Accepted: true}, err
	}
	verdicts, err := judge(asked)
	return answer{Accepted: true, Verdicts: verdicts}, err
}

func main() {
	option.Config.EnableIPv4, option.Config.EnableIPv6 = true, true
	option.Config.UnsafeDaemonConfigOption.AllowLocalhost = option.AllowLocalhostAlways // as beside a kubelet
	policy.SetPolicyEnabled(option.DefaultEnforcement)
	api.InitEntities(clusterName)
	lines.Serve(answered, func(said *answer, err error) { *said = answer{Reason: err.Error()} })
}
