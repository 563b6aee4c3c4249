package charts

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/test/files"
)

// The release that Helm renders, and the resource that the operator renders.
const (
	name      = "web"
	namespace = "shop"
)

// version is that of the cluster for both.
var version = render.Newest

// helmObject is an object that Helm renders.
type helmObject struct {
	*unstructured.Unstructured
	// test says that it is for helm test only.
	test bool
}

// helmRenders returns what helm install sends to an API server that serves some kinds besides the built-in ones, in the
// form that it stores. There is an error if Helm, or the API server, would refuse it.
func helmRenders(c *chart.Chart, vals map[string]any, served chartutil.VersionSet) (map[key]helmObject, error) {
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace = name, namespace
	install.KubeVersion, install.APIVersions, install.SkipSchemaValidation = &version, served, refersFarAway(c)
	rendered, err := install.Run(appchart.Copy(c), copied(vals).(map[string]any))
	if err != nil {
		return nil, err
	}
	objects := map[key]helmObject{}
	add := func(text string, test, hook bool) error {
		documents, err := files.Decode([]byte(text))
		if err != nil {
			return err
		}
		for _, document := range flat(documents) {
			object, err := stored(document)
			if err != nil {
				return err
			}
			if !hook {
				installed(object)
			}
			if _, twice := objects[keyOf(object)]; twice {
				return fmt.Errorf("%s is rendered twice", keyOf(object))
			}
			objects[keyOf(object)] = helmObject{object, test}
		}
		return nil
	}
	if err := add(rendered.Manifest, false, false); err != nil {
		return nil, err
	}
	for _, hook := range rendered.Hooks {
		test := !slices.ContainsFunc(hook.Events, func(event release.HookEvent) bool { return event != release.HookTest })
		if err := add(hook.Manifest, test, true); err != nil && !test {
			return nil, err
		}
	}
	return objects, nil
}

// farAway matches what refers to a schema on a server.
var farAway = regexp.MustCompile(`"\$ref"\s*:\s*"https?://`)

// refersFarAway reports whether the schema of a chart, or of a subchart, is elsewhere: tests do not fetch it.
func refersFarAway(c *chart.Chart) bool {
	return farAway.Match(c.Schema) || slices.ContainsFunc(c.Dependencies(), refersFarAway)
}

// installed adds the metadata that helm install adds to each object.
func installed(object *unstructured.Unstructured) {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = "Helm"
	annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"] = name, namespace
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

// flat replaces lists by what they list, as Helm does.
func flat(objects []*unstructured.Unstructured) (list []*unstructured.Unstructured) {
	for _, object := range objects {
		if !object.IsList() {
			list = append(list, object)
			continue
		}
		items, _ := object.Object["items"].([]any)
		for _, item := range items {
			if content, is := item.(map[string]any); is {
				list = append(list, flat([]*unstructured.Unstructured{{Object: content}})...)
			}
		}
	}
	return list
}

// stored returns an object as an API server stores it that sets no defaults: a built-in kind has gone through its Go
// type. It shares nothing with the operator's own conversion.
func stored(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if object.GetName() == "" {
		return nil, fmt.Errorf("%s has no name", object.GetKind())
	}
	out := object
	into, err := scheme.Scheme.New(object.GroupVersionKind())
	if err == nil {
		data, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, into); err != nil {
			return nil, fmt.Errorf("%s: %w", keyOf(object), err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
		if err != nil {
			return nil, err
		}
		out = &unstructured.Unstructured{Object: content}
		out.SetGroupVersionKind(object.GroupVersionKind())
		delete(out.Object, "status")
		for _, field := range []string{"data", "binaryData"} { // in maps of bytes, a null is an empty value
			entries, _ := out.Object[field].(map[string]any)
			for name, value := range entries {
				if value == nil {
					entries[name] = ""
				}
			}
		}
	}
	withoutTimes(out.Object)
	switch {
	case clusterScoped(out.GroupVersionKind()):
		out.SetNamespace("")
	case out.GetNamespace() == "":
		out.SetNamespace(namespace)
	}
	return out, nil
}

// withoutTimes removes the times of creation that Go types write as null.
func withoutTimes(value any) {
	switch value := value.(type) {
	case map[string]any:
		if at, there := value["creationTimestamp"]; there && at == nil {
			delete(value, "creationTimestamp")
		}
		for _, child := range value {
			withoutTimes(child)
		}
	case []any:
		for _, child := range value {
			withoutTimes(child)
		}
	}
}

// outside are the built-in kinds, and kinds of some charts, whose objects are in no namespace.
var outside = strings.Fields(`Namespace Node PersistentVolume ClusterRole ClusterRoleBinding CustomResourceDefinition
	APIService StorageClass CSIDriver CSINode VolumeAttributesClass IngressClass PriorityClass RuntimeClass PodSecurityPolicy
	MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
	MutatingAdmissionPolicy MutatingAdmissionPolicyBinding FlowSchema PriorityLevelConfiguration
	CertificateSigningRequest ClusterTrustBundle DeviceClass ResourceSlice GatewayClass ClusterIssuer
	SecurityContextConstraints ClusterTriggerAuthentication`)

func clusterScoped(kind schema.GroupVersionKind) bool { return slices.Contains(outside, kind.Kind) }

// key identifies an object.
type key struct {
	schema.GroupKind
	namespace, name string
}

func keyOf(object *unstructured.Unstructured) key {
	return key{object.GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetName()}
}

func (k key) String() string {
	if k.namespace != namespace && k.namespace != "" {
		return k.Kind + " " + k.namespace + "/" + k.name
	}
	return k.Kind + " " + k.name
}

// copied copies values.
func copied(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := maps.Clone(value)
		for name, child := range out {
			out[name] = copied(child)
		}
		return out
	case []any:
		out := slices.Clone(value)
		for i, child := range out {
			out[i] = copied(child)
		}
		return out
	}
	return value
}
