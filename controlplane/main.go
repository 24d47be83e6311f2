// Command roadstead-controlplane is Kubernetes' own control plane without nodes, in one process.
//
// It boots on loopback, prints one JSON line when ready and obeys `baseline` and `reset` on stdin. At end-of-file it
// removes its folder and ends, so that a killed parent leaves nothing behind. `kubectl ...` is kubectl.
package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	etcd "go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	policy "k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/cli"
	"k8s.io/controller-manager/pkg/clientbuilder"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/certs"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/kubeconfig"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	quota "k8s.io/kubernetes/pkg/quota/v1/install"
)

//go:embed audit.yaml apiserver.flags
var files embed.FS

func main() {
	if len(os.Args) > 1 && os.Args[1] == "kubectl" {
		os.Args = os.Args[1:]
	}
	if strings.HasSuffix(os.Args[0], "kubectl") {
		kubectlutil.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
		return
	}
	folder := flag.String("data", "", "a new folder for all it writes, removed at the end")
	port := flag.Int("port", 0, "port on 127.0.0.1; 0 takes a free one")
	flag.Parse()
	check(errors.Join(os.Mkdir(*folder, 0o700), os.Chdir(*folder))) // there, socket paths are short
	// Locked until the process ends: a folder whose lock is free was left by a killed run.
	check(syscall.Flock(must(syscall.Open("lock", syscall.O_CREAT|syscall.O_CLOEXEC, 0o600)), syscall.LOCK_EX))
	signal.Ignore(os.Interrupt) // ^C is the parent's to answer: it stops its controllers first
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	context.AfterFunc(ctx, func() { leave(0) })
	answer, lines := json.NewEncoder(os.Stdout), make(chan string)
	go func() { // before the boot: the parent may die meanwhile
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			lines <- input.Text()
		}
		leave(0)
	}()
	os.Stdout = os.Stderr // stdout is for answers; kubeadm's parts talk there
	store, ready := boot(ctx, *port)
	check(answer.Encode(ready))
	for line := range lines {
		check(answer.Encode(store.obey(ctx, line)))
	}
}

// leave removes the folder and ends; nothing is shut down in order, since nobody reads it again.
func leave(code int) {
	folder := must(os.Getwd())
	for try := 0; try < 100 && os.RemoveAll(folder) != nil; try++ { // etcd may just add a file
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(code)
}

// boot starts everything in order and returns what the ready line says.
func boot(ctx context.Context, port int) (*store, map[string]any) {
	began, cfg := time.Now(), etcd.NewConfig()
	cfg.Dir, cfg.LogLevel, cfg.UnsafeNoFsync, cfg.QuotaBackendBytes = "etcd", "error", true, 8<<30
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Host: "etcd.sock"}}
	cfg.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: "peer.sock"}}
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = 1000, 100 // else large writes stay in memory
	kept := must(etcd.StartEtcd(cfg)).Server
	<-kept.ReadyNotify()
	listener := must(net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)))
	port = listener.Addr().(*net.TCPAddr).Port
	cluster := &kubeadm.InitConfiguration{LocalAPIEndpoint: kubeadm.APIEndpoint{AdvertiseAddress: "127.0.0.1", BindPort: int32(port)}}
	cluster.ClusterName, cluster.CertificatesDir, cluster.EncryptionAlgorithm = "roadstead", ".", kubeadm.EncryptionAlgorithmECDSAP256
	cluster.Networking = kubeadm.Networking{ServiceSubnet: "10.96.0.0/16", DNSDomain: "cluster.local"}
	check(certs.CreatePKIAssets(cluster)) // our own CAs, what they sign, and the key of account tokens
	check(errors.Join(kubeconfig.CreateKubeConfigFile("super-admin.conf", ".", cluster),
		kubeconfig.CreateKubeConfigFile("controller-manager.conf", ".", cluster)))
	check(os.WriteFile("audit.yaml", must(files.ReadFile("audit.yaml")), 0o600))
	go runServer(ctx, listener, port)
	manager := must(clientcmd.BuildConfigFromFlags("", "controller-manager.conf"))
	manager.QPS = -1 // no limit
	client, folder := kubernetes.NewForConfigOrDie(manager), must(os.Getwd())
	until(func() bool { return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil })
	startControllers(ctx, manager, client)
	return &store{v3client.New(kept), client.Discovery(), metadata.NewForConfigOrDie(manager), nil}, map[string]any{
		"url": manager.Host, "version": must(client.Discovery().ServerVersion()).GitVersion,
		"kubeconfig": folder + "/super-admin.conf", "audit": folder + "/audit.log",
		"ready_seconds": time.Since(began).Seconds(),
	}
}

// runServer is kube-apiserver with our flags; without it there is nothing to stay for.
func runServer(ctx context.Context, listener net.Listener, port int) {
	policy.SetPolicyRefreshIntervalForTests(20 * time.Millisecond) // else policies come a second late
	s, flags := options.NewServerRunOptions(), pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range s.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	check(flags.Parse(strings.Fields(string(must(files.ReadFile("apiserver.flags")))))) // ignores other words
	s.SecureServing.Listener, s.SecureServing.BindPort = listener, port
	check(s.GenericServerRunOptions.ComponentGlobalsRegistry.Set())
	complete := must(s.Complete(ctx))
	check(errors.Join(complete.Validate()...))
	fmt.Fprintln(os.Stderr, "kube-apiserver ended:", app.Run(ctx, complete))
	leave(1)
}

// startControllers runs those of kube-controller-manager, each as its own ServiceAccount; returns once they see every kind.
func startControllers(ctx context.Context, config *rest.Config, client *kubernetes.Clientset) {
	look, never := time.Second, func() time.Duration { return 12 * time.Hour } // elsewhere new kinds take 30 s
	recount := func() time.Duration { return 10 * time.Second } // one that raced a create is wrong until the next
	bare, log := metadata.NewForConfigOrDie(config), klog.FromContext(ctx)
	as := clientbuilder.NewDynamicClientBuilder(rest.AnonymousClientConfig(config), client.CoreV1(), "kube-system")
	typed := informers.NewSharedInformerFactory(client, 0)
	shared := informerfactory.NewInformerFactory(typed, metadatainformer.NewSharedInformerFactory(bare, 0))
	core, started, found := typed.Core().V1(), make(chan struct{}), client.Discovery().ServerPreferredNamespacedResources
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	collector := must(garbagecollector.NewGarbageCollector(ctx, as.ClientOrDie("generic-garbage-collector"), metadata.NewForConfigOrDie(
		as.ConfigOrDie("generic-garbage-collector")), mapper, garbagecollector.DefaultIgnoredResources(), shared, started))
	kinds := must(quota.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(typed.ForResource), typed))
	quotas := must(resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient: as.ClientOrDie("resourcequota-controller").CoreV1(), ResourceQuotaInformer: core.ResourceQuotas(),
		ResyncPeriod: recount, ReplenishmentResyncPeriod: never, UpdateFilter: quota.DefaultUpdateFilter(), DiscoveryFunc: found,
		Registry: generic.NewRegistry(kinds.Evaluators()), IgnoredResourcesFunc: kinds.IgnoredResources, InformersStarted: started, InformerFactory: shared,
	}))
	accounts := must(serviceaccount.NewServiceAccountsController(log, core.ServiceAccounts(), core.Namespaces(),
		as.ClientOrDie("service-account-controller"), serviceaccount.DefaultServiceAccountsControllerOptions()))
	go collector.Run(ctx, 10, look)
	go collector.Sync(ctx, client.Discovery(), look)
	go quotas.Run(ctx, 5)
	go quotas.Sync(ctx, found, look)
	go accounts.Run(ctx, 1)
	go namespace.NewNamespaceController(ctx, as.ClientOrDie("namespace-controller"), metadata.NewForConfigOrDie(
		as.ConfigOrDie("namespace-controller")), found, core.Namespaces(), never(), v1.FinalizerKubernetes).Run(ctx, 10)
	go endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), typed.Discovery().V1().EndpointSlices(),
		100, as.ClientOrDie("endpointslice-controller"), 0).Run(ctx, 5)
	go clusterroleaggregation.NewClusterRoleAggregation(typed.Rbac().V1().ClusterRoles(),
		as.ClientOrDie("clusterrole-aggregation-controller").RbacV1()).Run(ctx, 5)
	shared.Start(ctx.Done())
	close(started)
	until(func() bool {
		role, err := typed.Rbac().V1().ClusterRoles().Lister().Get("admin")
		return err == nil && len(role.Rules) > 0 && collector.IsSynced(log)
	})
}

// store is etcd beside the API server, for what no client may do: put everything back.
type store struct {
	etcd      *clientv3.Client
	discovery discovery.DiscoveryInterface
	metadata  metadata.Interface
	kept      map[string]mvccpb.KeyValue
}

// obey carries out one line of stdin; what it cannot go on after ends the process.
func (s *store) obey(ctx context.Context, line string) map[string]any {
	began, reply := time.Now(), map[string]any{}
	switch {
	case line == "baseline":
		until(func() bool {
			before := s.stored(ctx, clientv3.WithKeysOnly())
			time.Sleep(300 * time.Millisecond) // a controller may not be done with what came before
			s.kept = s.stored(ctx)
			return maps.EqualFunc(before, s.kept, func(a, b mvccpb.KeyValue) bool { return a.ModRevision == b.ModRevision })
		})
		s.settle(ctx, slices.Collect(maps.Keys(s.kept)))
		reply["kept"] = len(s.kept)
	case line == "reset" && s.kept != nil:
		reply["removed"], reply["restored"] = s.reset(ctx)
	default:
		reply["error"] = fmt.Sprintf("cannot %q; there are baseline and, after it, reset", line)
	}
	reply["millis"] = time.Since(began).Milliseconds()
	return reply
}

// stored reads every key but the leases that kube-apiserver renews for itself.
func (s *store) stored(ctx context.Context, how ...clientv3.OpOption) map[string]mvccpb.KeyValue {
	found := map[string]mvccpb.KeyValue{}
	for _, kv := range must(s.etcd.Get(ctx, "/registry/", append(how, clientv3.WithPrefix())...)).Kvs {
		if key := string(kv.Key); !strings.Contains(key, "leases/kube-system/apiserver-") && !strings.Contains(key, "leases/apiserver-") {
			found[key] = *kv
		}
	}
	return found
}

// reset deletes what is newer than the baseline and restores what changed, until nothing differs.
func (s *store) reset(ctx context.Context) (removed, restored int) {
	for range 5 { // a controller may answer the first pass with a write of its own
		now, touched := s.stored(ctx, clientv3.WithKeysOnly()), []string{}
		all := maps.Clone(now)
		maps.Copy(all, s.kept)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if was, is := s.kept[key]; now[key].ModRevision == was.ModRevision { // 0 where it is absent
				continue
			} else if is {
				was.ModRevision = must(s.etcd.Put(ctx, key, string(was.Value))).Header.Revision
				s.kept[key], restored = was, restored+1
			} else {
				must(s.etcd.Delete(ctx, key))
				removed++
			}
			touched = append(touched, key)
		}
		if len(touched) == 0 {
			break
		}
		s.settle(ctx, touched)
	}
	return removed, restored
}

// settle returns when the API server has seen what was touched: its kinds, its caches, its policies.
func (s *store) settle(ctx context.Context, touched []string) {
	lists, served := sync.WaitGroup{}, map[string]schema.GroupVersionResource{}
	until(func() bool {
		served = map[string]schema.GroupVersionResource{}
		found, _ := s.discovery.ServerPreferredResources()
		for kind := range must(discovery.GroupVersionResources(found)) {
			served[kind.GroupResource().String()] = kind
		}
		return !slices.ContainsFunc(touched, func(key string) bool {
			name, is := strings.CutPrefix(key, "/registry/apiextensions.k8s.io/customresourcedefinitions/")
			return is && served[name].Empty() == (s.kept[key].ModRevision > 0)
		})
	})
	for _, kind := range served {
		if slices.ContainsFunc(touched, func(key string) bool { return strings.Contains(key, "/"+kind.Resource+"/") }) {
			lists.Go(func() { _, _ = s.metadata.Resource(kind).List(ctx, metav1.ListOptions{Limit: 1}) })
		}
	}
	lists.Wait()                      // such a list waits for the server's cache
	time.Sleep(50 * time.Millisecond) // the authorizer and admission hear of it from those caches
}

// until asks every 10 ms until the answer is yes; the deadline is the parent's.
func until(done func() bool) {
	for !done() {
		time.Sleep(10 * time.Millisecond)
	}
}

func check(err error) { must(0, err) }

// must ends the process with a trace where there is nothing to go on with: the parent shows the log.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
