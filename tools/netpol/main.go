// Command netpol asks kube-network-policies about native NetworkPolicies: one JSON request a line
// in, one answer a line out.
//
//	{"policies": [...], "ends": {...}, "flows": [...]}
//	{"verdicts": [true, false]}   or   {"error": "why not"}
//
// An end is a pod or an address outside the cluster. A verdict is that of both ends together.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	engine "sigs.k8s.io/kube-network-policies/pkg/networkpolicy"

	"roadstead.dev/tools/lines"
)

// packet has the layout of the engine's own type. The module publishes no function that judges a
// packet without a kernel queue, so this program links to the one that the queue calls; the pinned
// version and the tests with known answers hold the two together.
type packet struct {
	id      uint32
	family  v1.IPFamily
	srcIP   net.IP
	dstIP   net.IP
	proto   v1.Protocol
	srcPort int
	dstPort int
	payload []byte
}

//go:linkname evaluatePacket sigs.k8s.io/kube-network-policies/pkg/networkpolicy.(*Controller).evaluatePacket
func evaluatePacket(c *engine.Controller, ctx context.Context, p packet) bool

type end struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Address   string            `json:"address"`
}

type flow struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Port     int    `json:"port"`
	Protocol string `json:"protocol"`
}

type request struct {
	Policies []networkingv1.NetworkPolicy `json:"policies"`
	Ends     map[string]end               `json:"ends"`
	Flows    []flow                       `json:"flows"`
}

type answer struct {
	Verdicts []bool `json:"verdicts,omitempty"`
	Error    string `json:"error,omitempty"`
}

// stored gives a policy as an API server stores it: an empty list is no list. The engine takes an
// empty list for "everything", which no client of a server ever sees.
func stored(given networkingv1.NetworkPolicy) (*networkingv1.NetworkPolicy, error) {
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	found := &networkingv1.NetworkPolicy{}
	return found, json.Unmarshal(text, found)
}

// known builds an engine whose caches hold the world that was asked about.
func known(asked request) (*engine.Controller, error) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:9"}) // never called
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	policies, namespaces := factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Namespaces()
	pods, nodes := factory.Core().V1().Pods(), factory.Core().V1().Nodes()
	config := engine.Config{NodeName: "node", QueueID: 100}
	found, err := engine.NewController(client, policies, namespaces, pods, nodes, nil, nil, nil, config)
	if err != nil {
		return nil, err
	}
	for _, given := range asked.Policies {
		one, err := stored(given)
		if err == nil {
			err = policies.Informer().GetStore().Add(one)
		}
		if err != nil {
			return nil, err
		}
	}
	for name, one := range asked.Ends {
		if one.Namespace == "" {
			continue
		}
		meta := metav1.ObjectMeta{Name: one.Namespace, Labels: map[string]string{"kubernetes.io/metadata.name": one.Namespace}}
		pod := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: one.Namespace, Labels: one.Labels},
			Spec:       v1.PodSpec{NodeName: "node"},
			Status:     v1.PodStatus{Phase: v1.PodRunning, PodIPs: []v1.PodIP{{IP: one.Address}}},
		}
		if err := namespaces.Informer().GetStore().Add(&v1.Namespace{ObjectMeta: meta}); err != nil {
			return nil, err
		}
		if err := pods.Informer().GetStore().Add(pod); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func judge(asked request) (answer, error) {
	found, err := known(asked)
	if err != nil {
		return answer{}, err
	}
	verdicts := make([]bool, 0, len(asked.Flows))
	for _, one := range asked.Flows {
		from, to := asked.Ends[one.From], asked.Ends[one.To]
		seen := packet{
			family: v1.IPv4Protocol,
			srcIP:  net.ParseIP(from.Address), dstIP: net.ParseIP(to.Address),
			proto: v1.Protocol(one.Protocol), srcPort: 40000, dstPort: one.Port,
		}
		if seen.srcIP == nil || seen.dstIP == nil {
			return answer{}, fmt.Errorf("flow %+v: an end has no address", one)
		}
		verdicts = append(verdicts, evaluatePacket(found, context.Background(), seen))
	}
	return answer{Verdicts: verdicts}, nil
}

func main() {
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	_ = flags.Set("stderrthreshold", "FATAL")
	_ = flags.Set("logtostderr", "false")
	klog.SetOutput(io.Discard)
	lines.Serve(judge, func(said *answer, err error) { said.Error = err.Error() })
}
