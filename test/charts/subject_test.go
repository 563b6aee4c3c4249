package charts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/pod-security-admission/api"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
)

// outcome is how the operator renders a set of values that Helm renders.
type outcome struct {
	set         string
	differences []difference
	refused     error
	// withValue says that it was rendered with the line of values.yaml.
	withValue bool
	// open says that it was rendered with templatesInSpec.
	open bool
}

// silent are the differences without a reason.
func (o outcome) silent() []difference {
	return slices.DeleteFunc(slices.Clone(o.differences), func(d difference) bool { return why(d) != "" })
}

// subject is a chart, as both load it.
type subject struct {
	helm *chart.Chart
	raw  []*chart.File
	// open executes templates in the spec, too.
	renderer, open *render.Renderer
	kind           schema.GroupVersionKind
	// failed is the error with which the operator refuses to load it.
	failed error
}

// load loads a chart of a folder. Its kind may render whatever Helm renders, with any rights: which kinds and rights a
// chart may have is the decision of who installs it.
func load(folder, name string) (*subject, error) {
	c, raw, err := loadedByHelm(folder, name)
	if err != nil {
		return nil, err
	}
	s := &subject{helm: c, raw: raw, kind: schema.GroupVersionKind{Group: "charts.example.com", Version: "v1", Kind: kindOf(c.Name())}}
	watch := appchart.Watch{Watch: watches.Watch{GroupVersionKind: s.kind, ChartPath: name}, Published: appchart.Published{
		From: appchart.FromPublished,
		Grants: []rbacv1.PolicyRule{
			{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
			{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
		},
	}}
	loaded, err := watch.Load(os.DirFS(folder), name)
	if err != nil {
		s.failed = err
		return s, nil
	}
	s.renderer = render.For(watch, loaded)
	watch.TemplatesInSpec = true
	s.open = render.For(watch, loaded)
	s.renderer.ClusterScoped, s.open.ClusterScoped = clusterScoped, clusterScoped
	return s, nil
}

// kindOf returns a name of a kind for a chart.
func kindOf(chart string) string {
	var kind strings.Builder
	for part := range strings.FieldsFuncSeq(chart, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		kind.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return kind.String()
}

// expected is what Helm renders of a set of values, several times: what differs is random.
type expected struct {
	helm   []map[key]helmObject
	served chartutil.VersionSet
}

// expect renders a set by Helm, for a cluster that serves the kinds that its templates name and those that it renders.
func (s *subject) expect(of set) (expected, error) {
	e := expected{served: servedFor(s.helm)}
	if of.all {
		for _, kind := range e.served {
			version := kind[:strings.LastIndexByte(kind, '/')]
			if !slices.Contains(e.served, version) && strings.Contains(version, "/") {
				e.served = append(e.served, version)
			}
		}
	}
	for again := true; again; {
		objects, err := helmRenders(s.helm, of.values, e.served)
		if err != nil {
			return e, err
		}
		again = false
		for _, object := range objects {
			kind := object.GroupVersionKind()
			served := object.GetAPIVersion() + "/" + kind.Kind
			if !scheme.Scheme.Recognizes(kind) && !slices.Contains(e.served, served) {
				e.served, again = append(e.served, served), true
			}
		}
		e.helm = []map[key]helmObject{objects}
	}
	return e, s.again(&e, of, 2)
}

// again renders a set by Helm some more times.
func (s *subject) again(e *expected, of set, times int) error {
	for range times {
		objects, err := helmRenders(s.helm, of.values, e.served)
		if err != nil {
			return err
		}
		e.helm = append(e.helm, objects)
	}
	return nil
}

// render renders a set by the operator: as a resource with these values as spec.
func (s *subject) render(t *testing.T, by *render.Renderer, of set, served chartutil.VersionSet) (map[key]*unstructured.Unstructured, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	resource := &unstructured.Unstructured{Object: map[string]any{}}
	resource.SetGroupVersionKind(s.kind)
	resource.SetName(name)
	resource.SetNamespace(namespace)
	resource.SetUID(render.PlaceholderUID)
	if of.values != nil {
		resource.Object["spec"] = copied(of.values)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = version
	capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), served...)
	result, err := by.Predict(t.Context(), render.Input{Resource: resource, Capabilities: capabilities}, privileged)
	if err != nil {
		return nil, err
	}
	objects := map[key]*unstructured.Unstructured{}
	for _, object := range result.Objects {
		object, err := stored(object)
		if err != nil {
			return nil, err
		}
		objects[keyOf(object)] = object
	}
	return objects, nil
}

// privileged lets pods be as Helm renders them: what pods may do is up to the namespace.
func privileged(context.Context, *render.Draft) (postrender.Facts, error) {
	return postrender.Facts{Enforced: api.LevelPrivileged}, nil
}

// try compares a set; nil if Helm does not render it.
func (s *subject) try(t *testing.T, of set) *outcome {
	e, err := s.expect(of)
	if err != nil {
		return nil
	}
	s.mayRender(e.helm[0])
	tried := &outcome{set: of.name}
	ours, err := s.render(t, s.renderer, of, e.served)
	if err != nil && onWhatGround(err) == inSpec {
		tried.open = true
		ours, err = s.render(t, s.open, of, e.served)
	}
	if err != nil {
		tried.refused = err
		if unstable, found := errors.AsType[*render.UnstableError](err); found && !timely.MatchString(unstable.Function) {
			_ = s.again(&e, of, 5)
			if steady(e.helm) {
				tried.refused = errors.New("helm renders the same each time: " + err.Error())
			}
		}
		return tried
	}
	tried.differences = compare(e.helm, ours)
	if len(tried.silent()) > 0 && s.again(&e, of, 20) == nil { // two keys of a map are in the same order half of the time
		tried.differences = compare(e.helm, ours)
	}
	return tried
}

// timely matches the functions whose result is the same for some time.
var timely = regexp.MustCompile(`(?i)date|now|ago|round`)

// steady reports whether several renderings of Helm are the same, tests of the chart aside.
func steady(helm []map[key]helmObject) bool {
	first := untested(helm[0])
	return !slices.ContainsFunc(helm[1:], func(other map[key]helmObject) bool {
		objects := map[key]*unstructured.Unstructured{}
		for of, object := range untested(other) {
			objects[of] = object.Unstructured
		}
		return len(compare([]map[key]helmObject{first}, objects)) > 0
	})
}

// untested leaves out the tests of a chart.
func untested(objects map[key]helmObject) map[key]helmObject {
	objects = maps.Clone(objects)
	maps.DeleteFunc(objects, func(_ key, object helmObject) bool { return object.test })
	return objects
}

// mayRender adds the kinds of objects to those that the chart may render.
func (s *subject) mayRender(objects map[key]helmObject) {
	if s.renderer == nil {
		return
	}
	renders := slices.Clone(s.renderer.Published.Renders)
	for of := range objects {
		if kind := of.GroupKind.String(); !slices.Contains(renders, kind) {
			renders = append(renders, kind)
		}
	}
	slices.Sort(renders)
	s.renderer.Published.Renders, s.open.Published.Renders = renders, renders
}

// advised matches the value that a refusal says to set.
var advised = regexp.MustCompile(`set spec\.([^\s:]+): (.+)$`)

// follow returns the values that the refusals of the defaults advise, one after the other, over those that Helm needs;
// nil if the defaults are not refused, or if that does not help.
func (s *subject) follow(t *testing.T, needed map[string]any) map[string]any {
	values := map[string]any{}
	for range 10 {
		tried := s.try(t, set{values: over(values, needed)})
		switch {
		case tried == nil:
			return nil
		case tried.refused == nil && len(values) > 0:
			return values
		case tried.refused == nil:
			return nil
		}
		advice := advised.FindStringSubmatch(tried.refused.Error())
		if advice == nil {
			return nil
		}
		text := strings.NewReplacer("NAMESPACE", namespace, "NAME", "credentials", "VALUE", "credentials").Replace(advice[2])
		for _, field := range slices.Backward(strings.Split(advice[1], ".")) {
			text = fmt.Sprintf("{%q: %s}", field, text)
		}
		more, err := valuesOf([]byte(text))
		if err != nil {
			return nil
		}
		values = over(values, more)
	}
	return nil
}

// outcomes compares all sets of a chart: over a line of values if the operator refuses the first set without. The first
// set are the defaults, unless Helm needs values that are not known.
func (s *subject) outcomes(t *testing.T, knows known) []outcome {
	sets, err := setsOf(s.helm, s.raw, knows.Helm, *booleans, *seed)
	require.NoError(t, err)
	var list []outcome
	var beneath map[string]any
	for _, of := range sets {
		of.values = over(beneath, of.values)
		tried := s.try(t, of)
		if len(list) == 0 && tried != nil && tried.refused != nil {
			if beneath = knows.Value; beneath != nil {
				of.values = over(beneath, of.values)
				tried = s.try(t, of)
			}
		}
		if tried != nil {
			tried.withValue = beneath != nil
		}
		if tried != nil {
			list = append(list, *tried)
		}
	}
	return list
}
