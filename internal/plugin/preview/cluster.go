// Package preview predicts the operator's work on a resource: the objects that it would render, the origins of their
// values, the consequences of a change, and refusals. It renders with the operator's own code, for a cluster that it
// reads, or one that it assumes. The operator has caches; here, each read is a request, and objects that may not be
// read are reported and left out. It writes nothing, and returns lines instead of printing them.
package preview

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// Cluster is the one that resources are rendered for: a real one, which Open returns, or an assumed one, which is all
// in its fields. It is for one command, and not safe for concurrent use.
type Cluster struct {
	// Capabilities are the version and the kinds of the cluster.
	Capabilities *chartutil.Capabilities
	// Policy is the platform's; everything is allowed without one. Only the operator knows its location.
	Policy *policy.Policy
	// Defaults has the defaults of all namespaces; nil for those of the real cluster, if it is one.
	Defaults *corev1.ConfigMap
	// Labels are those of all namespaces of an assumed cluster.
	Labels map[string]string

	fields       render.Fields // nil for an assumed cluster
	reader       client.Client // nil for an assumed cluster
	dependencies *reference.Dependencies
	report       func(string)
	reported     map[string]bool
}

// Open returns the cluster of a client configuration. Kinds that may not be read are reported, each once.
func Open(ctx context.Context, reader client.Client, config *rest.Config, report func(string)) (*Cluster, error) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	served := &watch.Discovered{Discovery: discoverer, Clock: clock.RealClock{}, Version: apiVersions(reader)}
	capabilities, _, err := served.Get(ctx)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		Capabilities: capabilities, fields: served, reader: reader,
		dependencies: reference.NewDependencies(reader, reader), report: report, reported: map[string]bool{},
	}, nil
}

// apiVersions returns which version of its API the CRD of a kind is from; empty if it does not say, or may not be read.
func apiVersions(reader client.Client) func(context.Context, schema.GroupVersionKind) string {
	return func(ctx context.Context, kind schema.GroupVersionKind) string {
		mapping, err := reader.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return ""
		}
		crd := kube.Metadata(watch.CRDKind)
		if reader.Get(ctx, client.ObjectKey{Name: mapping.Resource.Resource + "." + kind.Group}, crd) != nil {
			return ""
		}
		return watch.BundleVersion(crd)
	}
}

// Assumed reports whether the cluster is not read.
func (c *Cluster) Assumed() bool { return c.reader == nil }

// Render returns the objects that the operator would render, or the error with which it would refuse it. Last is its
// last release; nil if that is not known.
func (c *Cluster) Render(
	ctx context.Context, renderer *render.Renderer, resource *unstructured.Unstructured, last *Release,
) (*render.Result, error) {
	in, err := c.Input(ctx, resource)
	if err != nil {
		return nil, err
	}
	c.scope(renderer)
	result, err := renderer.Predict(ctx, in, func(ctx context.Context, draft *render.Draft) (postrender.Facts, error) {
		return c.facts(ctx, resource, draft, last)
	})
	if err == nil {
		result.CheckFields(ctx, c.fields)
	}
	return result, err
}

// Input returns the input for rendering a resource.
func (c *Cluster) Input(ctx context.Context, resource *unstructured.Unstructured) (render.Input, error) {
	in, config := render.Input{Resource: resource, Capabilities: c.Capabilities}, c.Defaults
	if config == nil && !c.Assumed() {
		config = &corev1.ConfigMap{}
		err := c.reader.Get(ctx, client.ObjectKey{Namespace: resource.GetNamespace(), Name: defaults.Name}, config)
		if _, err := c.tolerate(client.IgnoreNotFound(err), "the defaults of the namespace are not considered"); err != nil {
			return in, err
		}
	}
	if config != nil {
		in.Defaults = defaults.Of(config, resource.GetKind())
	}
	return in, nil
}

// facts returns the facts about the cluster that hooks may know.
func (c *Cluster) facts(
	ctx context.Context, resource *unstructured.Unstructured, draft *render.Draft, last *Release,
) (postrender.Facts, error) {
	namespace := resource.GetNamespace()
	if c.Assumed() {
		return policy.FactsOf(namespace, c.Labels, c.Policy), nil
	}
	labels, err := c.dependencies.Labels(ctx, namespace)
	if _, err = c.tolerate(client.IgnoreNotFound(err),
		"the Pod Security levels of namespaces are not considered"); err != nil {
		return postrender.Facts{}, err
	}
	facts := policy.FactsOf(namespace, labels, c.Policy)
	// without all of the content, its version is unknown: as recorded, it predicts no restart
	readable, recorded := true, reference.Content{}
	if last != nil {
		recorded = last.Content // its version is kept for as long as the content is the same
		facts.Recorded = last.Outcome(resource).Objects
	}
	err = facts.Find(draft.References, func(mention reference.Reference) (reference.State, bool, error) {
		state, err := c.dependencies.Look(ctx, namespace, mention.Object, false)
		forbidden, err := c.tolerate(err, "objects that pods refer to are not considered if they may not be read")
		readable = readable && (!forbidden || !mention.Content)
		return state, !forbidden, err
	})
	if err != nil {
		return facts, err
	}
	facts.Content = recorded.Version
	if readable {
		facts.Content = reference.ContentOf(draft.References, facts.States).After(recorded).Version
	}
	// a run that the status records keeps the name of its Job
	runs := recordedRuns(resource)
	facts.Jobs = jobs.Names(jobs.Settle(draft.Runs, runs), runs)
	if err = c.generated(ctx, resource, draft.Generated(), last, &facts); err != nil {
		return facts, err
	}
	if facts.Keys, err = c.keys(ctx, resource, draft, facts.Recorded); err != nil {
		return facts, err
	}
	facts.Selectors, err = c.selectors(ctx, resource, draft.Selectors())
	return facts, err
}

// keys returns the keys of checksums that live Secrets have, or else recorded ones. New ones are not foreseen: without
// them, pods roll if, and only if, their checksum changes.
func (c *Cluster) keys(ctx context.Context, resource *unstructured.Unstructured, draft *render.Draft,
	recorded []*unstructured.Unstructured) (map[string]string, error) {
	keys := postrender.ChecksumKeys(recorded)
	secrets, _ := draft.Keyless(nil)
	for _, name := range secrets {
		live := kube.Metadata(kube.SecretKind)
		err := c.reader.Get(ctx, client.ObjectKey{Namespace: resource.GetNamespace(), Name: name}, live)
		if _, err = c.tolerate(client.IgnoreNotFound(err), "keys of checksums are taken to be as recorded"); err != nil {
			return nil, err
		}
		keys = labels.Merge(keys, postrender.ChecksumKeys([]client.Object{live}))
	}
	return keys, nil
}

// generated adds the versions of the Secrets that the operator fills, and the certificates that these have: of live
// ones and, of those that do not exist or may not be read, as they would be.
func (c *Cluster) generated(ctx context.Context, resource *unstructured.Unstructured, names []string, last *Release,
	facts *postrender.Facts) error {
	if len(names) == 0 {
		return nil
	}
	newest := (*livestate.Record)(nil)
	facts.Generated, facts.Certificates = map[string]string{}, map[string][]string{}
	if last != nil {
		newest = &livestate.Record{Revision: last.Revision}
		recorded := last.Outcome(resource).Objects
		facts.Generated, facts.Certificates = postrender.GeneratedVersions(recorded), postrender.CertificatesOf(recorded)
	}
	for _, name := range names {
		live := kube.Metadata(kube.SecretKind)
		err := c.reader.Get(ctx, client.ObjectKey{Namespace: resource.GetNamespace(), Name: name}, live)
		forbidden, err := c.tolerate(client.IgnoreNotFound(err), "Secrets that the operator fills are taken to be as recorded")
		if err != nil {
			return err
		}
		if !forbidden {
			facts.Certificates[name] = generate.NoteOf(live).Certificates()
		}
		if !forbidden || facts.Generated[name] == "" {
			facts.Generated[name] = release.GeneratedVersion(live, newest)
		}
	}
	return nil
}

// selectors returns those of live workloads that are the resource's, or about to become that: they cannot change.
func (c *Cluster) selectors(ctx context.Context, resource *unstructured.Unstructured,
	rendered map[kube.Key]map[string]string) (map[kube.Key]map[string]string, error) {
	kept := map[kube.Key]map[string]string{}
	for key := range rendered {
		live := kube.Object(key.WithVersion(appsv1.SchemeGroupVersion.Version)) // workloads have no other
		err := c.reader.Get(ctx, client.ObjectKey{Namespace: resource.GetNamespace(), Name: key.Name}, live)
		if apierrors.IsNotFound(err) {
			continue
		}
		forbidden, err := c.tolerate(err, "selectors of workloads that were adopted are not considered")
		if err != nil {
			return nil, err
		}
		if selector := postrender.SelectorOf(live); !forbidden && selector != nil && release.Keeps(resource, live) {
			kept[key] = selector
		}
	}
	return kept, nil
}

// scope sets on a renderer which kinds are cluster-scoped.
func (c *Cluster) scope(renderer *render.Renderer) {
	if !c.Assumed() {
		renderer.ClusterScoped = kube.ClusterScoped(c.reader.RESTMapper())
	}
}

// tolerate reports whether an error means that something may not be read, and tells the user the consequence. Any other
// error is returned.
func (c *Cluster) tolerate(err error, meaning string) (forbidden bool, _ error) {
	if !apierrors.IsForbidden(err) {
		return false, err
	}
	if !c.reported[meaning] {
		c.reported[meaning] = true
		c.report(fmt.Sprintf("%s: %v", meaning, err))
	}
	return true, nil
}

// Outcome renders a resource with one version of the charts. It is empty if the resource is nil or its kind is not
// served.
func (c *Cluster) Outcome(
	ctx context.Context, charts *Charts, resource *unstructured.Unstructured, last *Release,
) Outcome {
	if resource == nil || charts == nil || charts.Renderers[resource.GroupVersionKind()] == nil {
		return Outcome{}
	}
	out := OutcomeOf(c.Render(ctx, charts.Renderers[resource.GroupVersionKind()], resource, last))
	out.RecordedRuns, out.Source = recordedRuns(resource), sourceOf(resource)
	if c.Assumed() {
		out.RecordedRuns = completedRuns(out.Runs)
	}
	return out
}
