package toolchain

// program is one executable and how it is built. Its version is not here: the module that pins it has it.
type program struct {
	name    string
	module  string                        // the folder in tools whose go.mod pins it
	path    string                        // the main package
	source  string                        // the module that the package is part of, whose version it has
	tags    string                        // build tags, if any
	stamp   func(version string) []string // what the linker writes into it, as name=value, if anything
	minutes string                        // how long a build takes on 2 cores when Go's build cache is empty
}

const (
	operatorSDK      = "github.com/operator-framework/operator-sdk"
	operatorRegistry = "github.com/operator-framework/operator-registry"
	olm              = "github.com/operator-framework/operator-lifecycle-manager"
)

// slim leaves out what would need C, or a container engine's libraries.
const slim = "containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,json1"

// catalogue lists all programs, those of Kubernetes in the version that the module kubernetes-VERSION pins.
func catalogue(version string) []program {
	kubernetes := func(name, minutes string) program {
		return program{
			name: name, module: kubernetesModule + version, path: "k8s.io/kubernetes/cmd/" + name, source: "k8s.io/kubernetes",
			stamp: stampKubernetes, minutes: minutes,
		}
	}
	kwok := func(name, minutes string) program {
		return program{
			name: name, module: "kwok", path: "sigs.k8s.io/kwok/cmd/" + name, source: "sigs.k8s.io/kwok",
			minutes: minutes,
		}
	}
	lifecycle := func(name, path, minutes string) program {
		return program{name: name, module: "olm", path: olm + path, source: olm, tags: slim, minutes: minutes}
	}
	return []program{
		{
			name: "etcd", module: "etcd", path: "go.etcd.io/etcd/server/v3", source: "go.etcd.io/etcd/server/v3",
			minutes: "1 min",
		},
		kubernetes("kube-apiserver", "4 min"),
		kubernetes("kube-controller-manager", "1 min"),
		kubernetes("kube-scheduler", "10 s"),
		kubernetes("kubectl", "30 s"),
		kubernetes("kubelet", "3 min"),
		kubernetes("kube-proxy", "30 s"),
		kwok("kwok", "2 min"),
		kwok("kwokctl", "20 s"),
		{
			name: "operator-sdk", module: "operator-sdk",
			path: operatorSDK + "/cmd/operator-sdk", source: operatorSDK,
			tags: slim, stamp: stampOperatorSDK, minutes: "8 min",
		},
		{
			name: "scorecard-test", module: "operator-sdk",
			path: operatorSDK + "/images/scorecard-test", source: operatorSDK,
			tags: slim, stamp: stampOperatorSDK, minutes: "2 min",
		},
		{
			name: "helm-operator", module: "operator-sdk",
			path: operatorSDK + "/cmd/helm-operator", source: operatorSDK,
			stamp: stampOperatorSDK, minutes: "2 min",
		},
		prometheus("prometheus"),
		prometheus("promtool"),
		{
			name: "opm", module: "opm", path: operatorRegistry + "/cmd/opm", source: operatorRegistry,
			tags: slim, minutes: "6 min",
		},
		// OLM's own programs carry names that say too little outside of it.
		lifecycle("olm-catalog", "/cmd/catalog", "6 min"),
		lifecycle("olm-operator", "/cmd/olm", "2 min"),
		lifecycle("olm-cpb", "/util/cpb", "20 s"),
		lifecycle("olm-copy-content", "/cmd/copy-content", "10 s"),
	}
}

// prometheus is a program of Prometheus, without what finds targets in clouds, and without its pages.
func prometheus(name string) program {
	const source = "github.com/prometheus/prometheus"
	return program{
		name: name, module: "prometheus", path: source + "/cmd/" + name, source: source, tags: "remove_all_sd",
		stamp: stampPrometheus, minutes: "2 min",
	}
}

// stampPrometheus gives the programs of Prometheus the version of their module, in which v0.315.0 stands for 3.15.0.
func stampPrometheus(version string) []string {
	return []string{"github.com/prometheus/common/version.Version=" + version}
}

// stampKubernetes gives a program the version that the module has: without it the API server calls itself v0.0.0.
func stampKubernetes(version string) []string {
	const pkg = "k8s.io/component-base/version."
	major, minor := release(version)
	return []string{pkg + "gitVersion=" + version, pkg + "gitMajor=" + major, pkg + "gitMinor=" + minor}
}

// stampOperatorSDK gives operator-sdk its version, and with it the tag of the images that it names.
func stampOperatorSDK(version string) []string {
	const pkg = operatorSDK + "/internal/version."
	return []string{pkg + "Version=" + version, pkg + "GitVersion=" + version, pkg + "ImageVersion=" + version}
}
