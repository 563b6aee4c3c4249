package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// documentsOf reads what the templates of a published chart rendered, as Helm does: of equal keys the last one counts,
// and lists are the objects in them.
func documentsOf(files map[string]string) (list []manifest, warnings []v1.Problem, err error) {
	for _, source := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(source, "NOTES.txt") {
			continue
		}
		for _, text := range split(files[source]) {
			objects, duplicate, err := objectsOf(text)
			if err != nil {
				return nil, nil, &ChartError{At: source, Rule: appchart.RuleNoYAML, Err: &documentError{text,
					errors.New("does not render an object: " + unquoted(err.Error()))}}
			}
			if duplicate != "" {
				warnings = append(warnings, v1.Problem{Source: source, Reason: v1.ReasonFieldDropped,
					Message: duplicate + ": the last one counts"})
			}
			for _, object := range objects {
				if object.GetName() == "" {
					return nil, nil, &ChartError{At: source, Rule: appchart.RuleNoYAML,
						Err: &documentError{text, fmt.Errorf("renders a %s without metadata.name", object.GetKind())}}
				}
				list = append(list, manifest{source, object})
			}
		}
	}
	sortByInstallation(list)
	return list, warnings, nil
}

// split splits the output of a template, and ends each document as Helm does.
func split(text string) []string {
	parts := releaseutil.SplitManifests(text)
	list := make([]string, 0, len(parts))
	for _, key := range slices.SortedFunc(maps.Keys(parts), byNumber) {
		if document := strings.TrimSpace(parts[key]); document != "" {
			list = append(list, document+"\n")
		}
	}
	return list
}

// objectsOf returns the objects in a document, and what it says of a key that it has twice.
func objectsOf(document string) (list []*unstructured.Unstructured, duplicate string, err error) {
	data, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		strict := err
		if data, err = yaml.YAMLToJSON([]byte(document)); err != nil {
			return nil, "", err
		}
		_, duplicate, _ = strings.Cut(strings.TrimSpace(strict.Error()), "\n")
		duplicate = strings.TrimSpace(duplicate)
	}
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &object.Object); err != nil {
		return nil, "", err
	}
	if object.Object == nil {
		return nil, "", nil
	}
	list, err = flattened(object)
	return list, duplicate, err
}

// flattened returns the objects in a list, and in the lists in it.
func flattened(object *unstructured.Unstructured) (list []*unstructured.Unstructured, err error) {
	if object.GetKind() == "" || object.GetAPIVersion() == "" {
		return nil, fmt.Errorf("apiVersion and kind are required")
	}
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, nil
	}
	err = object.EachListItem(func(item runtime.Object) error {
		more, err := flattened(item.(*unstructured.Unstructured))
		list = append(list, more...)
		return err
	})
	return list, err
}

// HookError says that a chart renders an object as a hook of Helm, which this operator does not run.
type HookError struct {
	Object *unstructured.Unstructured
	// Source is the template, Events are those of the hook.
	Source, Events string
	// Advice says which value turns it off; empty if none is known.
	Advice string
}

func (e *HookError) Error() string {
	return fmt.Sprintf("%s renders %s %q as a Helm hook (%s), which this operator does not run: %s", e.Source,
		e.Object.GetKind(), e.Object.GetName(), e.Events, cmp.Or(e.Advice, notFound))
}

// helmEvents are the events of hooks that Helm knows.
var helmEvents = []release.HookEvent{
	release.HookPreInstall, release.HookPostInstall, release.HookPreDelete, release.HookPostDelete,
	release.HookPreUpgrade, release.HookPostUpgrade, release.HookPreRollback, release.HookPostRollback, release.HookTest,
	"test-success",
}

// withoutHooks leaves out the hooks of a chart, its tests among them.
func withoutHooks(list []manifest) []manifest {
	return slices.DeleteFunc(slices.Clone(list), func(one manifest) bool {
		_, isHook := one.object.GetAnnotations()[release.HookAnnotation]
		return isHook
	})
}

// checkHooks returns a HookError for an object that Helm would install as a hook, tests and events that Helm does not
// know left out, and an error if the spec names hooks.
func checkHooks(ctx context.Context, owner *unstructured.Unstructured, list []manifest) error {
	for _, one := range list {
		text, is := one.object.GetAnnotations()[release.HookAnnotation]
		if !is {
			continue
		}
		spec, _ := json.Marshal(owner.Object["spec"]) // it was JSON
		if strings.Contains(string(spec), release.HookAnnotation) {
			named := postrender.Reserved(ctx, &postrender.Input{Owner: owner}, []*unstructured.Unstructured{one.object})
			return &InvalidSpecError{cmp.Or(named,
				fmt.Errorf("%s %q has %s, which is reserved: leave it out of the spec", one.object.GetKind(), one.object.GetName(), release.HookAnnotation))}
		}
		known, isHook := true, false
		for event := range strings.SplitSeq(text, ",") {
			event := release.HookEvent(strings.ToLower(strings.TrimSpace(event)))
			known = known && slices.Contains(helmEvents, event)
			isHook = isHook || event != release.HookTest && event != "test-success"
		}
		if known && isHook {
			return &HookError{Object: one.object, Source: one.source, Events: text}
		}
	}
	return nil
}

// withoutDefinitions leaves out CustomResourceDefinitions, and returns the names of those whose kinds a cluster does
// not serve.
func withoutDefinitions(list []manifest, cluster *chartutil.Capabilities) (rest []manifest, missing []string) {
	for _, one := range list {
		kind := one.object.GroupVersionKind()
		if kind.Group != "apiextensions.k8s.io" || kind.Kind != "CustomResourceDefinition" {
			rest = append(rest, one)
			continue
		}
		var read struct {
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Kind string `json:"kind"`
				} `json:"names"`
				Versions []struct {
					Name string `json:"name"`
				} `json:"versions"`
			} `json:"spec"`
		}
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(one.object.Object, &read) // no kind is served then
		served := false
		for _, version := range read.Spec.Versions {
			served = served || cluster.APIVersions.Has(read.Spec.Group+"/"+version.Name+"/"+read.Spec.Names.Kind)
		}
		if !served {
			missing = append(missing, one.object.GetName())
		}
	}
	return rest, missing
}

// forged returns an error for an object that could be taken for one of the operator's own: a release record, or
// something with its labels and annotations. Charts that were written for Helm have none.
func forged(object *unstructured.Unstructured, spec string) error {
	kind, _, _ := unstructured.NestedString(object.Object, "type")
	if object.GetKind() == "ConfigMap" && object.GetName() == defaults.Name {
		return fmt.Errorf("the ConfigMap %s is for those who set the defaults of a namespace", defaults.Name)
	}
	if object.GetKind() == "Secret" && (kind == livestate.RecordType || strings.HasPrefix(object.GetName(), livestate.RecordPrefix)) {
		return fmt.Errorf("the Secret %q would be a release record, which only the operator writes", object.GetName())
	}
	if key := reservedKey(object.Object, spec); key != "" {
		return fmt.Errorf("%s %q has %s, which is reserved: leave it out of the spec", object.GetKind(), object.GetName(), key)
	}
	return nil
}

// reservedKey returns a label or an annotation in an object that is the operator's, or that is reserved and occurs in
// the text of the spec; empty if there is none.
func reservedKey(value any, spec string) string {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if key := reservedKey(item, spec); key != "" {
				return key
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			entries, _ := value[name].(map[string]any)
			if name == "labels" || name == "annotations" {
				for _, key := range slices.Sorted(maps.Keys(entries)) {
					reserved := name == "labels" && kube.ReservedLabel(key) != "" || kube.ReservedAnnotation(key) != ""
					if strings.HasPrefix(key, v1.GroupVersion.Group+"/") || reserved && strings.Contains(spec, key) {
						return key
					}
				}
			}
			if key := reservedKey(value[name], spec); key != "" {
				return key
			}
		}
	}
	return ""
}

// runOnce has each Job run again when what it runs changes: a Job cannot be changed.
func runOnce(list []manifest) {
	for _, one := range list {
		if kind := one.object.GroupVersionKind(); kind.Group != "batch" || kind.Kind != "Job" || jobs.Annotated(one.object) {
			continue
		}
		annotations := one.object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1.AnnotationRerun] = jobs.Rendered
		one.object.SetAnnotations(annotations)
	}
}
