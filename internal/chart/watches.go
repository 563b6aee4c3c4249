package chart

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"text/template"

	sprig "github.com/go-task/slim-sprig/v3"
	helmchart "helm.sh/helm/v3/pkg/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/chart/fields"
)

// Watch is one entry of watches.yaml, its chart loaded: a kind that the operator serves. It has the fields of
// helm-operator-plugins with their meaning, and two more for the defaults of the platform. The loader of
// helm-operator-plugins reads charts from disk only, ours from any file system.
type Watch struct {
	schema.GroupVersionKind `json:",inline"`
	ChartPath               string `json:"chart"`

	WatchDependentResources *bool                 `json:"watchDependentResources,omitempty"`
	OverrideValues          map[string]string     `json:"overrideValues,omitempty"`
	ReconcilePeriod         *metav1.Duration      `json:"reconcilePeriod,omitempty"`
	MaxConcurrentReconciles *int                  `json:"maxConcurrentReconciles,omitempty"`
	Selector                *metav1.LabelSelector `json:"selector,omitempty"`
	Chart                   *helmchart.Chart      `json:"-"`

	// DefaultValues lie beneath each spec, in its shape.
	DefaultValues DefaultValues `json:"defaultValues,omitempty"`
	// NamespaceDefaults are the fields that the defaults of a namespace may set, as in resources or config.environment;
	// with none, namespaces have no defaults.
	NamespaceDefaults []string `json:"namespaceDefaults,omitempty"`
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
	for i := 0; err == nil && i < len(list); i++ {
		if cause := broken[list[i].GroupVersionKind]; cause != nil {
			err = fmt.Errorf("cannot use watches: %s: %w", list[i].GroupVersionKind, cause)
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Broken holds the errors of charts that cannot be used, by kind.
type Broken map[schema.GroupVersionKind]error

// ReadWatches is like LoadWatches, but continues if a chart exists and cannot be used: only the name of such a chart is
// known.
func ReadWatches(text []byte, charts fs.FS) ([]Watch, Broken, error) {
	var list []Watch
	broken := Broken{}
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return nil, nil, fmt.Errorf("cannot parse watches: %w", err)
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("cannot use watches: no entry, so there is nothing to serve")
	}
	seen := map[schema.GroupVersionKind]bool{}
	for i := range list {
		w := &list[i]
		if w.Version == "" || w.Kind == "" {
			return nil, nil, fmt.Errorf("cannot use watches: entry %d: version and kind are required", i+1)
		}
		if seen[w.GroupVersionKind] {
			return nil, nil, fmt.Errorf("cannot use watches: %s is listed twice", w.GroupVersionKind)
		}
		seen[w.GroupVersionKind] = true
		if err := completeWatch(w); err != nil {
			return nil, nil, fmt.Errorf("cannot use watches: %s: %w", w.GroupVersionKind, err)
		}
		var err error
		if w.Chart, err = LoadKind(charts, w.ChartPath, w.GroupVersionKind); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("cannot use watches: %s: %w", w.GroupVersionKind, err)
		} else if err != nil {
			broken[w.GroupVersionKind] = err
			w.Chart = &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: helmchart.APIVersionV2,
				Name: path.Base(w.ChartPath)}}
		}
	}
	return list, broken, nil
}

// LoadKind loads the chart of a kind.
func LoadKind(charts fs.FS, dir string, kind schema.GroupVersionKind) (*helmchart.Chart, error) {
	c, err := Load(charts, path.Clean(dir))
	if err != nil {
		return nil, err
	}
	var problems fields.Problems
	switch _, err := fields.OfFolder(c, ".", kind); {
	case errors.As(err, &problems):
		return nil, fmt.Errorf("cannot load chart %s: %w", path.Clean(dir), Faults(c, problems))
	case err != nil:
		return nil, err
	}
	return c, nil
}

func completeWatch(w *Watch) (err error) {
	if w.ChartPath == "" {
		return fmt.Errorf("chart is required")
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
