package toolchain

import "time"

// program is one executable and how it is obtained. Its version is not here: the module that pins it has it.
type program struct {
	name     string
	use      string                           // what the project needs it for
	module   string                           // the folder in tools/pins whose go.mod pins it
	path     string                           // the main package
	source   string                           // the module that the package is part of, whose version it has
	tags     string                           // build tags, if any
	stamp    func(version string) []string    // what the linker writes into it, as name=value, if anything
	takes    time.Duration                    // how long a build takes on 2 cores when Go's build cache is empty
	official func(version, arch string) offer // where its publisher has it for Linux, if anywhere
}

const (
	operatorSDK      = "github.com/operator-framework/operator-sdk"
	operatorRegistry = "github.com/operator-framework/operator-registry"
	olm              = "github.com/operator-framework/operator-lifecycle-manager"
)

// slim leaves out what would need C, or a container engine's libraries.
const slim = "containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,json1"

// catalog lists all programs, those of Kubernetes in the version that the module kubernetes-VERSION pins.
func catalog(version string) []program {
	kubernetes := func(name string, takes time.Duration, use string) program {
		return program{
			name: name, use: use, module: kubernetesModule + version, path: "k8s.io/kubernetes/cmd/" + name,
			source: "k8s.io/kubernetes", stamp: stampKubernetes, takes: takes, official: kubernetesOffer(name),
		}
	}
	kwok := func(name string, takes time.Duration, use string) program {
		return program{
			name: name, use: use, module: "kwok", path: "sigs.k8s.io/kwok/cmd/" + name, source: "sigs.k8s.io/kwok",
			takes: takes, official: kwokOffer(name),
		}
	}
	sdk := func(name, path, tags string, takes time.Duration, use string) program {
		return program{
			name: name, use: use, module: "operator-sdk", path: operatorSDK + path, source: operatorSDK, tags: tags,
			stamp: stampOperatorSDK, takes: takes,
		}
	}
	lifecycle := func(name, path string, takes time.Duration) program {
		return program{name: name, use: "part of OLM", module: "olm", path: olm + path, source: olm, tags: slim, takes: takes}
	}
	runtime := func(name string, takes time.Duration, use string) program {
		const source = "github.com/containerd/containerd/v2"
		return program{
			name: name, use: use, module: "containerd", path: source + "/cmd/" + name, source: source,
			tags: "no_btrfs,no_devmapper,no_zfs", takes: takes,
		}
	}
	return []program{
		{
			name: "etcd", use: "the cluster's store", module: "etcd", path: "go.etcd.io/etcd/server/v3",
			source: "go.etcd.io/etcd/server/v3", takes: 75 * time.Second, official: etcdOffer,
		},
		kubernetes("kube-apiserver", 6*time.Minute, "the cluster's API"),
		kubernetes("kube-controller-manager", 90*time.Second, "Deployments and garbage collection"),
		kubernetes("kube-scheduler", 10*time.Second, "finds nodes for pods"),
		kubernetes("kubectl", 30*time.Second, "the cluster's client"),
		kubernetes("kubelet", 3*time.Minute, "runs pods"),
		kubernetes("kube-proxy", 30*time.Second, "Services on a node"),
		runtime("containerd", 3*time.Minute, "runs the containers of a node"),
		runtime("containerd-shim-runc-v2", 20*time.Second, "stands between containerd and a container"),
		runtime("ctr", 20*time.Second, "brings images into a node"),
		kwok("kwok", 2*time.Minute, "simulates nodes"),
		kwok("kwokctl", 20*time.Second, "starts clusters"),
		sdk("operator-sdk", "/cmd/operator-sdk", slim, 8*time.Minute, "generates and checks the bundle"),
		sdk("scorecard-test", "/images/scorecard-test", slim, 2*time.Minute, "the scorecard's own tests"),
		sdk("helm-operator", "/cmd/helm-operator", "", 2*time.Minute, "what the benchmark compares with"),
		{
			name: "kro", use: "what the benchmark compares with", module: "kro", path: "github.com/kubernetes-sigs/kro/cmd/controller",
			source: "github.com/kubernetes-sigs/kro", takes: 3 * time.Minute,
		},
		prometheus("prometheus", "scrapes the operator in tests"),
		prometheus("promtool", "tests the alerts"),
		{
			name: "opm", use: "renders and serves catalogs", module: "opm", path: operatorRegistry + "/cmd/opm",
			source: operatorRegistry, tags: slim, takes: 6 * time.Minute,
		},
		// OLM's own programs carry names that say too little outside of it.
		lifecycle("olm-catalog", "/cmd/catalog", 6*time.Minute),
		lifecycle("olm-operator", "/cmd/olm", 2*time.Minute),
		lifecycle("olm-cpb", "/util/cpb", 20*time.Second),
		lifecycle("olm-copy-content", "/cmd/copy-content", 10*time.Second),
	}
}

// prometheus is a program of Prometheus, without what finds targets in clouds, and without its pages.
func prometheus(name, use string) program {
	const source = "github.com/prometheus/prometheus"
	return program{
		name: name, use: use, module: "prometheus", path: source + "/cmd/" + name, source: source, tags: "remove_all_sd",
		stamp: stampPrometheus, takes: 2 * time.Minute, official: prometheusOffer(name),
	}
}

// stampPrometheus sets the version of the programs of Prometheus to that of their module, in which v0.315.0 stands for 3.15.0.
func stampPrometheus(version string) []string {
	return []string{"github.com/prometheus/common/version.Version=" + version}
}

// stampKubernetes sets the version of a program to that of the module: without it the API server reports v0.0.0.
func stampKubernetes(version string) []string {
	const pkg = "k8s.io/component-base/version."
	major, minor := release(version)
	return []string{pkg + "gitVersion=" + version, pkg + "gitMajor=" + major, pkg + "gitMinor=" + minor}
}

// stampOperatorSDK sets the version of operator-sdk, and with it the tag of the images that it names.
func stampOperatorSDK(version string) []string {
	const pkg = operatorSDK + "/internal/version."
	return []string{pkg + "Version=" + version, pkg + "GitVersion=" + version, pkg + "ImageVersion=" + version}
}
