// Package render is the one path from a custom resource to its objects: translator, Helm's template engine, post-render
// hooks, with the limits of each. The operator, the command line, golden tests and benchmarks all use it. It does not
// read the cluster.
package render

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/kube/readywhen"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/render/podtemplate"
	"github.com/example/appservice-operator/internal/engine/render/typecheck"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/internal/engine/violation"
)

// Renderer renders the resources of one kind. It is safe for concurrent use.
type Renderer struct {
	Chart *chart.Chart
	// Broken says why the chart cannot be used; nil if it can. Only the name of a broken chart is known.
	Broken     error
	Translator values.Translator
	// Published are the keys in watches.yaml of a chart that is served as it was published.
	Published appchart.Published
	// Bound is the maximum size of a resource.
	Bound limits.Bound
	// Limit returns an error if rendered objects ask for more than a resource may; nil for no further limit.
	Limit func([]*unstructured.Unstructured) error
	// Platform holds the settings in watches.yaml besides the chart.
	Platform Platform
	Hooks    []postrender.Hook
	// Revision is the release revision that templates see; 0 stands for 1, which the operator always uses.
	Revision int
	// ClusterScoped reports whether a kind is cluster-scoped; nil if none is.
	ClusterScoped func(schema.GroupVersionKind) bool

	schemas   schemas
	prepare   sync.Once // of the templates
	advices   advices
	templates templates
	identity  struct {
		once           sync.Once
		digest, values string
	}
}

// Draft is the output of the templates for a resource, before the hooks.
type Draft struct {
	// References are the objects that the draft refers to and does not contain.
	References []reference.Reference
	// Runs are the runs of the Jobs that run once, by the spec of the resource without any defaults beneath it.
	Runs []jobs.Run
	// Defaults are the fields that the spec left to the defaults.
	Defaults []v1.DefaultsStatus

	// Ends says that it is another one without the line ends that earlier operators left out.
	Ends bool

	of     Input
	layers []defaults.Layer
	run
	result Result // without hooks and digest
}

// run holds the inputs of the templates.
type run struct {
	resource     *unstructured.Unstructured
	vals         chartutil.Values
	capabilities *chartutil.Capabilities
	// trials is what may be spent on finding out whose mistake it is that a published chart does not render; nil for
	// nothing.
	trials *budget
}

// Outline describes a result without the objects themselves.
type Outline struct {
	// Digest of chart name, chart version and objects: 32 hexadecimal characters.
	Digest string
	// Keys of the objects, in the order in which they must be applied.
	Keys []kube.Key
	// Unserved are the objects that were left out because the cluster does not serve their kind.
	Unserved []kube.Key
	// Lacking are such objects that are required: nothing of the result may be written.
	Lacking []Lack
	// TooOld says which field of an object the cluster does not have; nil for none: nothing of the result may be written.
	TooOld *TooOldError
	// Unknown are the paths of spec fields that are not among the values, because this operator does not know them.
	Unknown []string
	// ClusterScoped reports whether any of the objects is cluster-scoped.
	ClusterScoped bool
	// Warnings are what a user should know of a rendering that succeeds.
	Warnings []v1.Problem
	// Definitions are the names of CustomResourceDefinitions that were left out, and that the cluster does not have.
	Definitions []string
	// Stages are the stages of the objects that are not of the main one; nil if there are none.
	Stages map[kube.Key]stage.Stage
	// Makes are the objects that the stage `before` makes for the others, as KIND/NAME.
	Makes []string
	// Outdated is what the policy allows only because the recorded release has it; nil for nothing.
	Outdated *violation.Error
}

// InStage returns the keys of the objects of some stages, in the order in which they must be applied.
func (o Outline) InStage(stages ...stage.Stage) []kube.Key {
	var keys []kube.Key
	for _, key := range o.Keys {
		if slices.Contains(stages, cmp.Or(o.Stages[key], stage.Main)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Result is what one resource is rendered to. It is shared and must not be changed.
type Result struct {
	Outline
	// Values are the chart's values, without the chart's defaults.
	Values chartutil.Values
	// Objects in the order in which they must be applied.
	Objects []*unstructured.Unstructured
	// Bodies are the objects as JSON, in the same order.
	Bodies []Body
	// Sources names the template of each object.
	Sources []string
	// Runs are what its Jobs run that run once.
	Runs []jobs.Run
}

// draft executes the templates with layers of defaults beneath the spec.
func (r *Renderer) draft(ctx context.Context, in Input, layers []defaults.Layer) (*Draft, error) {
	if unfit, found := errors.AsType[*defaults.Error](r.Broken); found {
		return nil, unfit
	}
	if r.Broken != nil {
		return nil, &ChartError{Chart: r.Chart.Name(), Err: r.Broken}
	}
	resource, applied := r.Under(in.Resource, layers)
	vals, unknown, err := values.Read(ctx, r.Translator, resource)
	if err != nil {
		return nil, &InvalidSpecError{err}
	}
	patch, err := podtemplate.Of(resource, vals)
	if err != nil {
		return nil, r.blame(err)
	}
	draft := &Draft{
		Defaults: applied, of: in, layers: layers,
		run:    run{resource, vals, in.Capabilities, &budget{1}},
		result: Result{Outline: Outline{Unknown: unknown}, Values: vals},
	}
	manifests, err := r.execute(ctx, draft, in.WithoutEnds)
	if err != nil {
		return nil, r.blame(r.place(draft.run, err))
	}
	for _, manifest := range manifests {
		if err := readywhen.Check(manifest.object); err != nil {
			return nil, fmt.Errorf("%s renders %w", manifest.source, err)
		}
		if found := typecheck.Vast(manifest.object); len(found) > 0 {
			return nil, fmt.Errorf("%s renders %s %q: %w", manifest.source, manifest.object.GetKind(),
				manifest.object.GetName(), found)
		}
		if !served(manifest.object, in.Capabilities) {
			draft.result.leaveOut(manifest.object)
			continue
		}
		draft.result.Objects = append(draft.result.Objects, manifest.object)
		draft.result.Sources = append(draft.result.Sources, manifest.source)
	}
	if err := unique(&draft.result); err != nil {
		return nil, r.blame(err)
	}
	if err := patch.Apply(draft.result.Objects); err != nil { // before references and Pod Security are checked
		return nil, r.blame(err)
	}
	draft.References = reference.Of(draft.result.Objects)
	return draft, r.identify(draft)
}

// identify finds out what the Jobs of a draft run, for the resource as its user wrote it.
func (r *Renderer) identify(draft *Draft) error {
	for i, object := range draft.result.Objects {
		if !jobs.Annotated(object) {
			continue
		}
		run, err := jobs.Of(object, draft.of.Resource, r.Chart.Values)
		if err != nil {
			return r.blame(&postrender.ObjectError{Object: object, Err: err})
		}
		if err := appchart.CheckRerun(r.Chart, object.GetAnnotations()[v1.AnnotationRerun]); err != nil {
			return r.blame(&ChartError{At: draft.result.Sources[i], Rule: appchart.RuleRerun, Err: err})
		}
		draft.Runs = append(draft.Runs, run)
	}
	return nil
}

// Again returns a recorded release of a resource with changes by hooks: its objects have been through all hooks before.
func Again(ctx context.Context, resource *unstructured.Unstructured, of *chart.Chart, values chartutil.Values,
	manifest string, facts postrender.Facts, chain ...postrender.Hook) (*Result, error) {
	objects, err := ReadManifest(manifest)
	if err != nil {
		return nil, err
	}
	draft := &Draft{References: reference.Of(objects), run: run{resource: resource},
		result: Result{Values: values, Objects: objects}}
	for _, document := range strings.Split(manifest, documentStart)[1:] {
		source, _, _ := strings.Cut(document, "\n")
		draft.result.Sources = append(draft.result.Sources, source)
	}
	for _, object := range objects {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", postrender.AnnotationStamp)
	}
	return (&Renderer{Chart: of, Hooks: chain}).finish(ctx, draft, facts)
}

// Selectors returns the labels by which the rendered workloads select their pods.
func (d *Draft) Selectors() map[kube.Key]map[string]string {
	return postrender.SelectorsOf(d.result.Objects)
}

// Generated returns the names of the Secrets that the operator fills.
func (d *Draft) Generated() []string { return postrender.GeneratedSecrets(d.result.Objects) }

// Keyless returns the names of the Secrets that need a key for checksums and are not among some keys, and the workloads
// that show such checksums.
func (d *Draft) Keyless(keys map[string]string) (secrets []string, workloads []*unstructured.Unstructured) {
	workloads, secrets = postrender.Revealing(d.result.Objects)
	return slices.DeleteFunc(secrets, func(name string) bool { return keys[name] != "" }), workloads
}

// Kinds lists the kinds of the objects.
func (d *Draft) Kinds() []schema.GroupVersionKind {
	var list []schema.GroupVersionKind
	for _, object := range d.result.Objects {
		if kind := object.GroupVersionKind(); !slices.Contains(list, kind) {
			list = append(list, kind)
		}
	}
	return list
}

// finish runs the hooks on the output of the templates and stamps it.
func (r *Renderer) finish(ctx context.Context, draft *Draft, facts postrender.Facts) (*Result, error) {
	result := draft.result
	level, err := appchart.PodSecurity(r.Chart)
	if err != nil {
		return nil, r.blame(&ChartError{At: "Chart.yaml", Err: err})
	}
	input := &postrender.Input{
		Owner:         draft.resource,
		ClusterScoped: r.ClusterScoped,
		PodSecurity:   level,
		References:    draft.References,
		Runs:          draft.Runs,
		Facts:         facts,
	}
	if r.Published.Is() {
		input.Published = &postrender.Published{Published: r.Published, Kind: r.Platform.Kind.Kind,
			Plain: func() ([]*unstructured.Unstructured, error) { return r.plain(ctx, draft) }}
	}
	if err := postrender.Run(ctx, r.Hooks, input, result.Objects); err != nil {
		return nil, r.blameObject(draft, err)
	}
	for _, object := range result.Objects {
		body, err := stamp(object)
		if err != nil {
			return nil, r.blame(err)
		}
		result.Bodies = append(result.Bodies, body)
		result.ClusterScoped = result.ClusterScoped || object.GetNamespace() == ""
		key := kube.KeyOf(object)
		result.Keys = append(result.Keys, key)
		if of := stage.Of(object); of != stage.Main {
			if result.Stages == nil {
				result.Stages = map[kube.Key]stage.Stage{}
			}
			result.Stages[key] = of
			result.Makes = append(result.Makes, stage.Makes(object)...)
		}
	}
	result.Digest, result.Runs, result.Outdated = r.digest(result.Objects), draft.Runs, input.Outdated
	result.Warnings = slices.Concat(result.Warnings, input.Warnings)
	return &result, nil
}

// served reports whether a cluster serves the kind of an object. Built-in kinds are assumed to be served.
func served(object *unstructured.Unstructured, capabilities *chartutil.Capabilities) bool {
	return scheme.Scheme.Recognizes(object.GroupVersionKind()) ||
		capabilities.APIVersions.Has(object.GetAPIVersion()+"/"+object.GetKind())
}

// execute returns what the templates render, and notes in the draft what else is known of it.
func (r *Renderer) execute(ctx context.Context, draft *Draft, asBefore bool) (list []manifest, err error) {
	if r.Published.Is() {
		out, err := r.executePublished(ctx, draft.run)
		if err != nil {
			return nil, err
		}
		draft.result.Warnings, draft.result.Definitions = out.warnings, out.definitions
		return out.manifests, nil
	}
	enabled, input, err := r.input(draft.run)
	if err != nil {
		return nil, err
	}
	rendered, err := r.engine().render(enabled, input, first, "")
	if err != nil {
		return nil, templateFault(err)
	}
	list, draft.Ends, err = manifestsOf(rendered.files, asBefore)
	return list, err
}

// input returns what the templates see, and the chart without the subcharts that the values disable.
func (r *Renderer) input(of run) (*chart.Chart, chartutil.Values, error) {
	c, vals := appchart.Copy(r.Chart), of.vals
	if err := chartutil.ProcessDependenciesWithMerge(c, vals); err != nil {
		return nil, nil, unmergeable(r.Chart, vals, err)
	}
	// Revision and IsInstall are the same in every render: a template that used them would never converge.
	revision := max(1, r.Revision)
	options := chartutil.ReleaseOptions{
		Name: of.resource.GetName(), Namespace: of.resource.GetNamespace(), Revision: revision, IsInstall: revision == 1,
		IsUpgrade: revision > 1,
	}
	input, err := chartutil.ToRenderValuesWithSchemaValidation(c, vals, options, of.capabilities, true)
	if err != nil {
		return nil, nil, unmergeable(c, vals, err)
	}
	if err := r.schemas.check(c, vals, input["Values"].(chartutil.Values), r.Published.Is()); err != nil {
		return nil, nil, err
	}
	return c, input, nil
}

// unmergeable says why the values of a spec cannot be merged with those of a chart and its subcharts.
func unmergeable(c *chart.Chart, given chartutil.Values, err error) error {
	names := make([]string, 0, len(c.Dependencies()))
	for _, dependency := range c.Dependencies() {
		names = append(names, dependency.Name())
	}
	for _, dependency := range c.Metadata.Dependencies {
		names = append(names, dependency.Alias)
	}
	for _, name := range names {
		if value, there := given[name]; there && name != "" {
			if _, isMap := value.(map[string]any); !isMap {
				return &SpecError{Message: fieldOf(given, []string{name}) + ": must be a map: the values of a subchart"}
			}
		}
	}
	return &ChartError{Err: fmt.Errorf("the values of its subcharts cannot be put together: %w", err)}
}

func unique(result *Result) error {
	seen := map[kube.Key]string{}
	for i, object := range result.Objects {
		key := kube.KeyOf(object)
		if other, found := seen[key]; found {
			return &ChartError{At: result.Sources[i], Rule: appchart.RuleDuplicate,
				Err: fmt.Errorf("renders %s %q, which %s renders, too", object.GetKind(), object.GetName(), other)}
		}
		seen[key] = result.Sources[i]
	}
	return nil
}

func (r *Renderer) digest(objects []*unstructured.Unstructured) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s\n", r.Chart.Name(), r.Chart.Metadata.Version)
	stamps := make([]string, 0, len(objects))
	for _, object := range objects {
		stamps = append(stamps, fmt.Sprintf("%s %s", kube.KeyOf(object), object.GetAnnotations()[postrender.AnnotationStamp]))
	}
	sort.Strings(stamps)
	fmt.Fprintln(sum, strings.Join(stamps, "\n"))
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// Body returns one of the objects as JSON.
func (r *Result) Body(key kube.Key) (Body, bool) {
	for i, object := range r.Objects {
		if kube.KeyOf(object) == key {
			return r.Bodies[i], true
		}
	}
	return Body{}, false
}

// Size returns the number of bytes of the objects as JSON.
func (r *Result) Size() int {
	size := 0
	for _, body := range r.Bodies {
		size += len(body.data)
	}
	return size
}

// Manifest returns the objects as Helm stores them, each with the template that it comes from. JSON is YAML, and
// formatting the bodies takes a tenth of the time that printing YAML takes.
func (r *Result) Manifest() string {
	var out bytes.Buffer
	for i, body := range r.Bodies {
		fmt.Fprintf(&out, "%s%s\n", documentStart, r.Sources[i])
		_ = json.Indent(&out, body.data, "", "  ") // it is JSON
		out.WriteByte('\n')
	}
	return out.String()
}
