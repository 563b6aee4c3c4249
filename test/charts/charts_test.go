// Package charts compares what the operator renders of charts that were written for Helm with what Helm renders: small
// ones of each sort in testdata, and the public ones of a folder.
package charts

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/pod-security-admission/api"

	appchart "github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/render/hooks"
	"github.com/example/appservice-operator/test/files"
)

var (
	folder   = flag.String("folder", "", "a folder with charts, relative to the repository")
	maybe    = flag.Bool("if-there", false, "pass if the folder is not there")
	booleans = flag.Int("booleans", -1, "how many booleans of each chart are turned over; all if negative")
	seed     = flag.Uint64("seed", 0, "which booleans these are; 0 takes another seed each time")
	only     = flag.String("chart", "", "a regular expression of names of charts")
)

// known is what values.yaml says of a public chart.
type known struct {
	// Helm are the values without which Helm itself does not render it.
	Helm map[string]any `json:"helm"`
	// Value are those without which the operator does not, though Helm does.
	Value map[string]any `json:"value"`
	// Announced is a part of the message with which the operator refuses the chart, as the documentation announces.
	Announced string `json:"announced"`
}

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
	watch := appchart.Watch{GroupVersionKind: s.kind, ChartPath: name, Published: appchart.Published{
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
func privileged(context.Context, *render.Draft) (hooks.Facts, error) {
	return hooks.Facts{Enforced: api.LevelPrivileged}, nil
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
				tried.refused = fmt.Errorf("helm renders the same each time: %s", err)
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

// outcomes compares all sets of a chart: over the line of values.yaml if the operator refuses its defaults without.
func (s *subject) outcomes(t *testing.T, knows known) []outcome {
	sets, err := setsOf(s.helm, s.raw, knows.Helm, *booleans, *seed)
	require.NoError(t, err)
	var list []outcome
	withValue := false // once the defaults have been refused: this is how the chart would be served
	for _, of := range sets {
		var tried *outcome
		if !withValue {
			tried = s.try(t, of)
			withValue = of.name == defaultsOnly && tried != nil && tried.refused != nil && knows.Value != nil
		}
		if withValue {
			if tried = s.try(t, set{of.name, over(knows.Value, of.values), of.all}); tried != nil {
				tried.withValue = true
			}
		}
		if tried != nil {
			list = append(list, *tried)
		}
	}
	return list
}

// classOf returns the reason that the status would have, or the type of an error.
func classOf(err error) string {
	if reasoned, is := errors.AsType[interface {
		error
		Reason() string
	}](err); is {
		return reasoned.Reason()
	}
	if _, is := errors.AsType[*render.SpecError](err); is {
		return "SpecError"
	}
	if _, is := errors.AsType[*render.ChartError](err); is {
		return "ChartError"
	}
	return fmt.Sprintf("%T", err)
}

func short(err error) string {
	return fmt.Sprintf("%s: %.150s", classOf(err), strings.Join(strings.Fields(err.Error()), " "))
}

// tally sums up several charts.
type tally struct {
	sync.Mutex
	charts, loaded, byDefault, withValue, refused, announced int

	sets, both, withLine, open, differ, refusedSets, reasons, silent int

	named, grounds, refusals map[string]int
}

func (a *tally) print() {
	list := func(counts map[string]int, format string) {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			fmt.Printf(format, counts[name], name)
		}
	}
	list(a.refusals, "REFUSED %d times %s\n")
	list(a.grounds, "GROUND %d refusals: %s\n")
	list(a.named, "REASON %d differences: %s\n")
	fmt.Printf("SETS sets=%d both=%d with_value=%d templates_in_spec=%d differ=%d refused=%d reasons=%d silent=%d\n", a.sets, a.both,
		a.withLine, a.open, a.differ, a.refusedSets, a.reasons, a.silent)
	fmt.Printf("CHARTS charts=%d loaded=%d default=%d value=%d refused=%d announced=%d silent=%d\n", a.charts, a.loaded, a.byDefault,
		a.withValue, a.refused, a.announced, a.silent)
}

// numbers matches what differs between messages about the same thing.
var numbers = regexp.MustCompile(`\d+`)

// add counts a chart, and returns its line, and its differences and refusals without a reason, with the sets that have
// them.
func (a *tally) add(name string, s *subject, knows known, outcomes []outcome) (line string, silent map[string][]string) {
	a.Lock()
	defer a.Unlock()
	silent = map[string][]string{}
	a.charts++
	if s.failed == nil {
		a.loaded++
	}
	var both, differ, refused, withLine int
	first := "none"
	for _, of := range outcomes {
		a.sets++
		if of.withValue {
			withLine++
		}
		if of.open {
			a.open++
		}
		if of.refused != nil {
			if refused++; refused == 1 {
				first = of.set + ": " + short(of.refused)
			}
			a.refusals[numbers.ReplaceAllString(short(of.refused), "N")]++
			ground := onWhatGround(of.refused)
			if ground == "" {
				silent["refused, "+of.refused.Error()] = append(silent["refused, "+of.refused.Error()], of.set)
				ground = "none"
			}
			a.grounds[ground]++
			continue
		}
		both++
		if len(of.differences) > 0 {
			differ++
		}
		for _, d := range of.differences {
			if reason := why(d); reason != "" {
				a.reasons++
				a.named[reason]++
				continue
			}
			a.silent++
			silent[d.String()] = append(silent[d.String()], of.set)
		}
	}
	a.both, a.differ, a.refusedSets, a.withLine = a.both+both, a.differ+differ, a.refusedSets+refused, a.withLine+withLine
	switch defaults := outcomes[0]; {
	case defaults.refused != nil && knows.Announced != "":
		a.announced++
	case defaults.refused != nil:
		a.refused++
	case defaults.withValue:
		a.withValue++
	default:
		a.byDefault++
	}
	return fmt.Sprintf("CHART %s sets=%d both=%d differ=%d refused=%d first refusal %s", name, len(outcomes), both, differ, refused,
		first), silent
}

// TestPublicChartsRenderAsHelm compares the charts of a folder: the work of others, and not in the repository.
func TestPublicChartsRenderAsHelm(t *testing.T) {
	if *folder == "" {
		t.Skip("no -folder: make test-charts CHARTS=FOLDER")
	}
	if !filepath.IsAbs(*folder) {
		*folder = filepath.Join(files.Root(t), *folder)
	}
	names, err := chartsIn(*folder)
	if *maybe && errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there", *folder)
	}
	require.NoError(t, err)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	if *booleans >= 0 {
		fmt.Printf("SEED seed=%d\n", *seed)
	}
	table := map[string]known{}
	files.Into(t, filepath.Join("test", "charts", "values.yaml"), &table)
	selected, err := regexp.Compile(*only)
	require.NoError(t, err)
	sum := &tally{named: map[string]int{}, grounds: map[string]int{}, refusals: map[string]int{}}
	var lines []string
	t.Run("charts", func(t *testing.T) {
		for _, name := range names {
			if !selected.MatchString(name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, err := load(*folder, name)
				require.NoError(t, err)
				knows := table[s.helm.Name()]
				_, err = s.expect(set{values: knows.Helm})
				require.NoError(t, err, "Helm does not render the chart with its defaults: values.yaml needs values for it")
				outcomes := s.outcomes(t, knows)
				line, silent := sum.add(s.helm.Name(), s, knows, outcomes)
				sum.Lock()
				lines = append(lines, line)
				sum.Unlock()
				for _, text := range slices.Sorted(maps.Keys(silent)) {
					t.Errorf("without a reason, in %d sets, %s first: %s", len(silent[text]), silent[text][0], text)
				}
				knows.check(t, outcomes)
			})
		}
	})
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	sum.print()
	require.NotZero(t, sum.charts, "no chart is in %s", *folder)
}

// check fails for what values.yaml says and what is not so any more.
func (k known) check(t *testing.T, outcomes []outcome) {
	defaults := outcomes[0]
	if k.Value != nil {
		assert.True(t, defaults.withValue, "the value of values.yaml is needless: the chart renders without it")
		assert.NoError(t, defaults.refused, "the value of values.yaml does not help")
	}
	if k.Announced != "" {
		assert.ErrorContains(t, defaults.refused, k.Announced)
	}
}
