package node

import (
	"context"
	"fmt"
	"os/exec"
	"slices"

	"github.com/example/appservice-operator/tools/processes"
)

const (
	serviceNetwork = "10.97.0.0/16"
	podNetwork     = "10.89.0.0/16"
	// apiService is the address of the API server's own Service, the first of the network.
	apiService = "10.97.0.1"
	apiPort    = "6443"
)

// component is a program that a node consists of.
type component struct {
	name string
	args []string
}

func (i *instance) components() []component {
	first, second := i.stages()
	return slices.Concat(first, second)
}

// stages returns the components that need no others, and those that need an API server or containerd.
func (i *instance) stages() (first, second []component) {
	const etcd = "http://127.0.0.1:2379"
	key := func(name string) string { return i.path("pki", name) }
	kubeconfig := func(name string) string { return "--kubeconfig=" + i.path(name+".kubeconfig") }
	address := linkOf(i.name).node.String()
	first = []component{
		{"etcd", []string{
			"--data-dir=/var/lib/etcd", "--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
			"--unsafe-no-fsync", // the state need not outlive the machine
		}},
		{"kube-apiserver", []string{
			"--etcd-servers=" + etcd, "--secure-port=" + apiPort, "--advertise-address=" + address,
			"--tls-cert-file=" + key("apiserver.crt"), "--tls-private-key-file=" + key("apiserver.key"),
			"--client-ca-file=" + key("ca.crt"), "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
			"--kubelet-client-certificate=" + key("kubelet-client.crt"), "--kubelet-client-key=" + key("kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + key("service-accounts.key"), "--service-account-signing-key-file=" + key("service-accounts.key"),
			"--service-cluster-ip-range=" + serviceNetwork, "--allow-privileged=true",
			"--requestheader-client-ca-file=" + key("ca.crt"), "--requestheader-allowed-names=front-proxy",
			"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + key("front-proxy.crt"), "--proxy-client-key-file=" + key("front-proxy.key"),
			"--enable-aggregator-routing=true",
		}},
		{"containerd", []string{"--config", i.path("containerd.toml")}},
	}
	second = []component{
		{"kube-controller-manager", []string{
			kubeconfig("kube-controller-manager"), "--use-service-account-credentials=true", "--leader-elect=false",
			"--service-account-private-key-file=" + key("service-accounts.key"), "--root-ca-file=" + key("ca.crt"),
			"--cluster-signing-cert-file=" + key("ca.crt"), "--cluster-signing-key-file=" + key("ca.key"),
			"--kube-api-qps=300", "--kube-api-burst=500",
		}},
		{"kube-scheduler", []string{kubeconfig("kube-scheduler"), "--leader-elect=false"}},
		{kubelet, []string{
			kubeconfig(kubelet), "--config=" + i.path("kubelet.yaml"), "--hostname-override=" + i.name, "--node-ip=" + address,
		}},
		{"kube-proxy", []string{
			kubeconfig("kube-proxy"), "--proxy-mode=iptables", "--cluster-cidr=" + podNetwork, "--hostname-override=" + i.name,
			"--conntrack-max-per-core=0", // that is the machine's to say
		}},
	}
	return first, second
}

// start starts components, each as DIR/bin/NAME.
func (i *instance) start(ctx context.Context, components ...component) error {
	for _, c := range components {
		command, err := i.inside(ctx, i.path("bin", c.name), c.args...)
		if err != nil {
			return err
		}
		if err := i.detach(command, c.name); err != nil {
			return err
		}
	}
	return nil
}

const (
	kubelet = "kubelet"
	// shim is what containerd starts for each pod.
	shim = "containerd-shim-runc-v2"
)

func (i *instance) restartKubelet(ctx context.Context) error {
	before, err := i.heartbeat(ctx)
	if err != nil {
		return err
	}
	running, err := processes.Of(ctx, i.dir)
	if err != nil {
		return err
	}
	if err := processes.Kill(kubelet, running[kubelet]); err != nil {
		return err
	}
	i.ended = make(chan string, most) // the end of the old one is no surprise
	all := i.components()
	at := slices.IndexFunc(all, func(c component) bool { return c.name == kubelet })
	if err := i.start(ctx, all[at]); err != nil {
		return err
	}
	return i.until(ctx, func(ctx context.Context) error {
		now, err := i.heartbeat(ctx)
		if err == nil && now == before {
			err = fmt.Errorf("the new kubelet has not reported yet")
		}
		if err != nil {
			return err
		}
		return i.isReady(ctx)
	})
}

// heartbeat returns the time of the kubelet's last sign of life, nothing if there has been none.
func (i *instance) heartbeat(ctx context.Context) (string, error) {
	return i.kubectl(ctx, "get", "lease", i.name, "--namespace=kube-node-lease",
		"--ignore-not-found", "--output=jsonpath={.spec.renewTime}")
}

// kubectl runs kubectl on the cluster and returns what it prints.
func (i *instance) kubectl(ctx context.Context, args ...string) (string, error) {
	return processes.Output(exec.CommandContext(ctx, i.programs["kubectl"], append([]string{"--kubeconfig", i.kubeconfig()}, args...)...))
}

// answers returns an error unless the API server says that it is ready.
func (i *instance) answers(ctx context.Context) error {
	_, err := i.kubectl(ctx, "get", "--raw", "/readyz", "--request-timeout=30s")
	return err
}

// isReady returns an error unless the node takes pods.
func (i *instance) isReady(ctx context.Context) error {
	state, err := i.kubectl(ctx, "get", "node", i.name, "--output",
		`jsonpath={.status.conditions[?(@.type=="Ready")].status}{.spec.taints[*].key}`)
	if err == nil && state != "True" {
		err = fmt.Errorf("the node is not ready (%s)", state)
	}
	if err == nil {
		_, err = i.kubectl(ctx, "get", "serviceaccount", "default")
	}
	return err
}
