package chart

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"text/template"

	sprig "github.com/go-task/slim-sprig/v3"
	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	helmchart "helm.sh/helm/v3/pkg/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// Watch is one entry of watches.yaml, its chart loaded: a kind that the operator serves. It is that of
// helm-operator-plugins, with further keys. The loader of helm-operator-plugins reads charts from disk only, ours from
// any file system.
type Watch struct {
	watches.Watch `json:",inline"`

	// DefaultValues lie beneath each spec, in its shape.
	DefaultValues DefaultValues `json:"defaultValues,omitempty"`
	// NamespaceDefaults are the fields that the defaults of a namespace may set, as in resources or config.environment;
	// with none, namespaces have no defaults.
	NamespaceDefaults []string `json:"namespaceDefaults,omitempty"`

	Published `json:",inline"`
}

// DefaultValues lie beneath each spec, in the shape of a spec. Whole numbers stay whole.
type DefaultValues map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (v *DefaultValues) UnmarshalJSON(text []byte) error {
	return utiljson.Unmarshal(text, (*map[string]any)(v))
}

// LoadWatches parses the text of a watches file and loads the charts that it names, with paths relative to the root of
// charts. Environment variables and sprig functions in overrideValues are expanded.
func LoadWatches(text []byte, charts fs.FS) ([]Watch, error) {
	list, broken, err := ReadWatches(text, charts)
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		if cause := broken[w.GroupVersionKind]; cause != nil {
			return nil, fmt.Errorf("cannot use watches: %s: %w", w.GroupVersionKind, cause)
		}
	}
	if faults := broken.WithoutKind(); len(faults) > 0 {
		return nil, fmt.Errorf("cannot use watches: %w", faults[0])
	}
	return list, nil
}

// Broken holds the errors of entries and charts that cannot be used, by kind: those of entries are EntryErrors, joined
// for those without a kind.
type Broken map[schema.GroupVersionKind]error

// WithoutKind returns the errors of entries that name no kind.
func (b Broken) WithoutKind() []error {
	if all, are := b[schema.GroupVersionKind{}].(interface{ Unwrap() []error }); are {
		return all.Unwrap()
	}
	return nil
}

// Fatal returns the first error if no kind of a list can be served: all entries are wrong, or their charts are missing.
func (b Broken) Fatal(list []Watch) error {
	first := b.WithoutKind()
	for _, w := range list {
		broken := b[w.GroupVersionKind]
		if _, wrong := errors.AsType[*EntryError](broken); !wrong && !errors.Is(broken, fs.ErrNotExist) {
			return nil
		}
		first = append(first, broken)
	}
	return fmt.Errorf("cannot use watches, no kind can be served: %w", first[0])
}

// EntryError says what is wrong with an entry of a watches file: that kind cannot be served, whatever its chart.
type EntryError struct {
	// Entry counts from 1.
	Entry int
	Err   error
}

func (e *EntryError) Error() string { return fmt.Sprintf("entry %d of watches: %v", e.Entry, e.Err) }

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Err }

// ReadWatches is like LoadWatches, but continues if an entry or its chart cannot be used: only the name of such a chart
// is known.
func ReadWatches(text []byte, charts fs.FS) ([]Watch, Broken, error) {
	var entries []json.RawMessage
	if err := yaml.UnmarshalStrict(text, &entries); err != nil {
		return nil, nil, fmt.Errorf("cannot parse watches: %w", err)
	}
	if len(entries) == 0 {
		return nil, nil, fmt.Errorf("cannot use watches: no entry, so there is nothing to serve")
	}
	var list []Watch
	broken := Broken{}
	for i, entry := range entries {
		w, err := readEntry(entry)
		kind := w.GroupVersionKind
		if w.Version == "" || w.Kind == "" {
			broken[schema.GroupVersionKind{}] = errors.Join(append(broken.WithoutKind(), &EntryError{i + 1, err})...)
			continue
		}
		if slices.ContainsFunc(list, func(other Watch) bool { return other.GroupVersionKind == kind }) {
			broken[kind] = &EntryError{i + 1, fmt.Errorf("%s is listed twice", kind)}
			continue
		}
		if err != nil {
			broken[kind] = &EntryError{i + 1, err}
		} else if w.Chart, err = w.Load(charts, w.ChartPath); err != nil {
			broken[kind] = err
		}
		if err != nil {
			name := cmp.Or(w.ChartPath, strings.ToLower(w.Kind))
			w.Chart = &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: helmchart.APIVersionV2, Name: path.Base(name)}}
		}
		list = append(list, w)
	}
	return list, broken, nil
}

// readEntry returns an entry; only its kind, as far as that can be read, if it cannot be used.
func readEntry(text []byte) (Watch, error) {
	var w, only Watch
	err := yaml.UnmarshalStrict(withTexts(text), &w)
	if err == nil {
		err = completeWatch(&w)
	}
	if err != nil {
		_ = json.Unmarshal(text, &only.GroupVersionKind)
		only.Selector, only.WatchDependentResources = &metav1.LabelSelector{}, ptr.To(true)
		return only, err
	}
	return w, nil
}

// withTexts makes texts of numbers and booleans in overrideValues. Package yaml does that for the fields of a struct,
// but not for those of a struct in it.
func withTexts(entry []byte) []byte {
	keys := map[string]json.RawMessage{}
	var texts struct {
		OverrideValues map[string]string `json:"overrideValues"`
	}
	if json.Unmarshal(entry, &keys) != nil || yaml.Unmarshal(entry, &texts) != nil || texts.OverrideValues == nil {
		return entry
	}
	keys["overrideValues"], _ = json.Marshal(texts.OverrideValues)
	entry, _ = json.Marshal(keys)
	return entry
}

// Load loads a chart for the kind of an entry: the one that it names, or another one.
func (w Watch) Load(charts fs.FS, dir string) (*helmchart.Chart, error) {
	dir = path.Clean(dir)
	if w.Is() {
		return LoadPublished(charts, dir)
	}
	c, err := Load(charts, dir)
	if err != nil {
		return nil, err
	}
	var problems fields.Problems
	switch _, err := fields.OfFolder(c, ".", w.GroupVersionKind); {
	case errors.As(err, &problems):
		return nil, fmt.Errorf("cannot load chart %s: %w", dir, Faults(c, problems))
	case err != nil:
		return nil, err
	}
	return c, nil
}

func completeWatch(w *Watch) (err error) {
	if w.Version == "" || w.Kind == "" {
		return fmt.Errorf("version and kind are required")
	}
	if w.ChartPath == "" {
		return fmt.Errorf("chart is required")
	}
	if !fs.ValidPath(path.Clean(w.ChartPath)) {
		return fmt.Errorf("chart %s: write a path below the folder of --chart-dir, by default that of --watches-file, "+
			"such as helm-charts/%s", w.ChartPath, path.Base(w.ChartPath))
	}
	if err := w.check(); err != nil {
		return err
	}
	if _, err = metav1.LabelSelectorAsSelector(w.Selector); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	w.Selector = cmp.Or(w.Selector, &metav1.LabelSelector{})
	w.WatchDependentResources = cmp.Or(w.WatchDependentResources, ptr.To(true))
	w.OverrideValues, err = expand(w.OverrideValues)
	return err
}

// expand replaces $VARIABLES and evaluates the templates in override values.
func expand(values map[string]string) (map[string]string, error) {
	expanded := make(map[string]string, len(values))
	for key, value := range values {
		parsed, err := template.New(key).Funcs(sprig.TxtFuncMap()).Parse(os.ExpandEnv(value))
		if err != nil {
			return nil, fmt.Errorf("overrideValues %s: %w", key, err)
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, nil); err != nil {
			return nil, fmt.Errorf("overrideValues %s: %w", key, err)
		}
		expanded[key] = out.String()
	}
	return expanded, nil
}
