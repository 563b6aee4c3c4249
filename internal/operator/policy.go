package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/filewatch"
	"github.com/example/appservice-operator/internal/metrics"
	"github.com/example/appservice-operator/internal/policy"
)

// policyFile is the platform's policy, reloaded when its file changes.
type policyFile struct {
	path    string // empty for none
	current *policy.Current
	metrics *metrics.Metrics
	log     logr.Logger
	// changed is called when another policy is in use.
	changed func(context.Context)

	told string // of what is wrong with the file
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

// refuse reports once what is wrong with the file. The policy in use stays.
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

// CheckFiles returns an error if the configuration cannot be read: watches, charts or the policy. It needs no cluster.
// Warnings are about what can be read.
func CheckFiles(options Options) (warnings []string, err error) {
	charts, err := options.charts()
	if err != nil {
		return nil, err
	}
	for kind, broken := range charts.broken {
		return nil, fmt.Errorf("the chart of %s cannot be used: %w", kind.Kind, broken)
	}
	for _, entry := range charts.list {
		for _, warning := range chart.Warnings(entry.Chart) {
			warnings = append(warnings, fmt.Sprintf("the chart of %s: %v", entry.Kind, warning))
		}
	}
	read, err := readPolicy(options.Policy)
	if err != nil {
		return warnings, err
	}
	return append(warnings, read.Warnings()...), nil
}
