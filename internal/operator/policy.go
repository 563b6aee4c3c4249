package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrlcluster "sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/filewatch"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// policyFile is the platform's policy, reloaded when its file changes.
type policyFile struct {
	path    string // empty for none
	current *policy.Current
	metrics *metrics.Metrics
	log     logr.Logger
	// changed is called when another policy is in use.
	changed func(context.Context)

	told string // the last reported fault of the file
}

// readPolicy reads a policy file. Without a path, or a file at it, the policy is the built-in one for shared clusters:
// a ConfigMap may be created later. A missing folder is an error.
func readPolicy(path string) (*policy.Policy, error) {
	if path == "" {
		return policy.Default(), nil
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("cannot read the policy: %w: correct --policy, or leave it out for the built-in policy", err)
		}
		return policy.Default(), nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the policy: %w", err)
	}
	read, err := policy.Read(path, text)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be used: %w", err)
	}
	return read, nil
}

// newPolicy reads the policy at the start, when an invalid file is an error.
func newPolicy(path string, counters *metrics.Metrics) (*policyFile, error) {
	first, err := readPolicy(path)
	if err != nil {
		return nil, err
	}
	p := &policyFile{path: path, current: policy.NewCurrent(first), metrics: counters, log: log.Log.WithName("policy")}
	p.tell("policy loaded")
	return p, nil
}

// Start implements manager.Runnable: it watches the file until the context ends.
func (p *policyFile) Start(ctx context.Context) error {
	if p.path == "" {
		return nil
	}
	folder := &filewatch.Folder{Root: filepath.Dir(p.path), Files: []string{filepath.Base(p.path)}}
	if err := folder.Watch(ctx, func() { p.load(ctx) }); err != nil { // nodes have few watches of files
		p.log.Error(err, "the policy is not followed: restart the operator to use a changed one", "file", p.path)
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a standby must have the same policy.
func (*policyFile) NeedLeaderElection() bool { return false }

// load puts the present file to use, if it is another policy and a valid one. A missing file changes no rule.
func (p *policyFile) load(ctx context.Context) {
	before := p.current.Get()
	next, err := readPolicy(p.path)
	if err == nil && next.Source == policy.NoFile && before.Source != policy.NoFile {
		err = fmt.Errorf("%s is gone: write it again, or restart the operator to use the %s", p.path, next.BuiltIn)
	}
	if err != nil {
		p.refuse(err)
		return
	}
	recovered := p.told != ""
	p.told = ""
	p.metrics.Policy(next.Source, string(next.BuiltIn), next.Digest, false)
	if next.Source == before.Source && next.Digest == before.Digest {
		if recovered {
			p.tell("policy loads again, and is the one in use")
		}
		return
	}
	p.current.Set(next)
	p.tell("policy loaded again")
	p.changed(ctx)
}

// refuse reports a fault of the file once. The policy in use stays.
func (p *policyFile) refuse(err error) {
	now := p.current.Get()
	p.metrics.Policy(now.Source, string(now.BuiltIn), now.Digest, true)
	if text := err.Error(); text != p.told {
		p.told = text
		p.log.Info("the policy does not load: the one before stays in use\n"+text, "file", p.path, "digest", now.Digest)
	}
}

func (p *policyFile) tell(message string) {
	now := p.current.Get()
	p.metrics.Policy(now.Source, string(now.BuiltIn), now.Digest, false)
	p.log.Info(message, "source", now.Source, "builtIn", now.BuiltIn, "digest", now.Digest, "namespaces", now.Entries())
	for _, warning := range now.Warnings() {
		p.log.Info("warning: " + warning)
	}
}

// CheckFiles returns all mistakes in the configuration, joined: in watches, in the charts by kind, in the policy. It
// needs no cluster; with the config of one, it also returns the CRDs and rights that are missing there. Warnings are
// about what can be read.
func CheckFiles(options Options, cluster *rest.Config) (warnings []string, err error) {
	charts, err := options.charts()
	if err != nil {
		return nil, err
	}
	mistakes := charts.broken.WithoutKind()
	version := options.KubeVersion
	if cluster != nil && version == "" {
		if version, err = versionOf(cluster); err != nil {
			mistakes = append(mistakes, err)
		}
	}
	slices.SortFunc(charts.list, func(a, b chart.Watch) int {
		return strings.Compare(a.GroupKind().String()+a.Version, b.GroupKind().String()+b.Version)
	})
	for _, entry := range charts.list {
		broken := charts.broken[entry.GroupVersionKind]
		if broken == nil {
			broken = cmp.Or(render.For(entry, entry.Chart).FitPlatform(), chart.Supports(entry.Chart, version))
		}
		switch {
		case isEntry(broken):
			mistakes = append(mistakes, fmt.Errorf("%s cannot be served: %w", entry.Kind, broken))
			continue
		case broken != nil:
			mistakes = append(mistakes, fmt.Errorf("the chart of %s cannot be used: %w", entry.Kind, broken))
		}
		for _, note := range render.CheckPublished(context.Background(), entry, entry.Chart) {
			warnings = append(warnings, fmt.Sprintf("the chart of %s: %s", entry.Kind, note))
		}
		for _, warning := range chart.Warnings(entry.Chart) {
			said := fmt.Sprintf("the chart of %s: %v", entry.Kind, warning)
			if warning.Rule == chart.RuleStage {
				mistakes = append(mistakes, errors.New(said))
			} else {
				warnings = append(warnings, said)
			}
		}
	}
	read, err := readPolicy(options.Policy)
	if err == nil {
		warnings = append(warnings, read.Warnings()...)
	}
	mistakes = append(mistakes, err)
	if cluster != nil {
		said, wrong := checkCluster(cluster, charts, read)
		warnings, mistakes = append(warnings, said...), append(mistakes, wrong...)
	}
	return warnings, errors.Join(mistakes...)
}

// versionOf returns the version of a cluster.
func versionOf(cluster *rest.Config) (string, error) {
	client, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return "", fmt.Errorf("cannot reach the cluster: %w", err)
	}
	version, err := client.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("cannot read the version of the cluster: %w", err)
	}
	return version.GitVersion, nil
}

// checkCluster returns what a cluster lacks of the kinds that are served and rendered: CRDs, and rights of the account;
// and warnings about resources that the policy refuses as they are recorded. Rules is nil for an invalid policy.
func checkCluster(config *rest.Config, charts *charts, rules *policy.Policy) (warnings []string, mistakes []error) {
	mgr, err := ctrlcluster.New(config)
	if err != nil {
		return nil, []error{fmt.Errorf("cannot reach the cluster: %w", err)}
	}
	if rules != nil {
		warnings, err = outdated(context.Background(), mgr.GetAPIReader(), rules, charts.namespaces)
		switch {
		case apierrors.IsForbidden(err):
			warnings = append(warnings, "resources that the policy concerns are not listed: "+err.Error())
		case err != nil:
			mistakes = append(mistakes, err)
		}
	}
	for _, entry := range charts.list {
		kind := entry.GroupVersionKind
		if _, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s is not served: install its CRD: %w", kind.Kind, err))
		}
		for _, need := range rbac.OfChart(entry.Chart, kube.ClusterScoped(mgr.GetRESTMapper())) {
			missing, err := lacks(context.Background(), mgr, need, charts.namespaces)
			if err != nil {
				return warnings, append(mistakes, err)
			}
			if len(missing) > 0 {
				mistakes = append(mistakes, fmt.Errorf("the chart of %s: %w", kind.Kind, &rbac.MissingError{Need: need, Verbs: missing}))
			}
		}
	}
	return warnings, mistakes
}
