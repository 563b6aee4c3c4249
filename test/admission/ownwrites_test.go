package admission

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"
)

// account is that of an operator, as make deploy makes it.
const account = "system:serviceaccount:appservice-operator-system:appservice-operator-controller-manager"

// written parses an object; nil if there is none.
func written(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// request is what the API server makes of a write of any object: of a creation, which has none before, or a deletion, which has none now.
func request(writer string, was, is *unstructured.Unstructured) *admission.VersionedAttributes {
	attributes := &admission.VersionedAttributes{}
	one, operation := is, admission.Update
	switch {
	case was == nil:
		operation = admission.Create
	case is == nil:
		one, operation = was, admission.Delete
	}
	if was != nil {
		attributes.VersionedOldObject.Set(was)
	}
	if is != nil {
		attributes.VersionedObject.Set(is)
	}
	kind := one.GroupVersionKind()
	attributes.VersionedKind = kind
	resource := kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")
	attributes.Attributes = admission.NewAttributesRecord(is, was, kind, one.GetNamespace(), one.GetName(), resource, "", operation, nil, false,
		&user.DefaultInfo{Name: writer})
	return attributes
}

func TestWhatTheOperatorsAccountMayWrite(t *testing.T) {
	const (
		labeled  = "labels: {app.example.com/managed: 'true'}, "
		owner    = "ownerReferences: [{apiVersion: app.example.com/v1, kind: AppService, name: web, uid: u, controller: true}], "
		retained = "labels: {app.example.com/managed: 'true', app.example.com/owner-uid: u}, annotations: {app.example.com/retained-for: web}, "
		left     = "labels: {app.example.com/managed: 'true'}, annotations: {app.example.com/rendered: abc}, "
		foreign  = "does not"
	)
	of := func(kind, metadata, rest string) string {
		return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {%snamespace: shop, name: a}%s}", path.Dir(kind), path.Base(kind), metadata, rest)
	}
	deployment := func(metadata, rest string) string {
		return of("apps/v1/Deployment", metadata, ", spec: {replicas: 1"+rest+"}")
	}
	secret := func(metadata, rest string) string { return of("v1/Secret", metadata, rest) }
	resource := func(metadata, spec string) string {
		return of("app.example.com/v1/AppService", metadata, ", spec: "+spec)
	}
	record := strings.ReplaceAll(secret("labels: {owner: helm, name: shop}, ", ""), "name: a", "name: sh.helm.release.v1.shop.v1")
	outside := strings.NewReplacer("namespace: shop, ", "")
	policy := OwnWrites()
	for name, test := range map[string]struct {
		before, now string
		want        string // a part of the message; empty if it passes
	}{
		"what is rendered":                          {"", deployment(labeled+owner, ""), ""},
		"what is rendered without the label":        {"", deployment(owner, ""), foreign},
		"the label alone":                           {"", deployment(labeled, ""), foreign},
		"an owner of another kind":                  {"", deployment(labeled+strings.ReplaceAll(owner, "app.example.com/v1", "apps/v1"), ""), foreign},
		"an owner of a group that begins like ours": {"", deployment(labeled+strings.ReplaceAll(owner, "example.com/v1", "example.com.evil/v1"), ""), foreign},
		"an owner that is no controller":            {"", deployment(labeled+strings.ReplaceAll(owner, "true}", "false}"), ""), foreign},
		"no mark":                                   {"", deployment("", ""), foreign},
		"the marks of what was left, new":           {"", deployment(left, ""), foreign},
		"a retained Secret":                         {"", secret(retained, ""), ""},
		"a retained Secret without a name":          {"", secret(strings.ReplaceAll(retained, "retained-for", "other"), ""), foreign},
		"what lives outside of namespaces": {
			"", outside.Replace(of("v1/PersistentVolume", "labels: {app.example.com/managed: 'true', app.example.com/owner-uid: u}, ", "")), "",
		},
		"outside of namespaces without an owner": {"", outside.Replace(of("v1/PersistentVolume", labeled, "")), foreign},
		"a mark that was lost":                   {deployment("", ""), deployment(labeled+owner, ", paused: true"), ""},
		"a mark that goes":                       {deployment(labeled+owner, ""), deployment("", ", paused: true"), ""},
		"a foreign Secret changes":               {secret("", ", data: {a: Yg==}"), secret("", ", data: {a: Yw==}"), foreign},
		"a foreign Secret gets a field":          {secret("", ""), secret("", ", data: {a: Yw==}"), foreign},
		"a foreign Secret loses a field":         {secret("", ", data: {a: Yw==}"), secret("", ""), foreign},
		"a foreign object gets a label":          {deployment("", ""), deployment("labels: {a: b}, ", ""), foreign},
		"a foreign object loses its annotations": {deployment("annotations: {a: b}, ", ""), deployment("", ""), foreign},
		"a foreign object loses a finalizer":     {deployment("finalizers: [a.example.com/b], ", ""), deployment("", ""), foreign},
		"the first write of an adoption":         {deployment("labels: {a: b}, ", ""), deployment("labels: {a: b}, managedFields: [{manager: operator}], ", ""), ""},
		"what an earlier resource left":          {deployment(left, ""), deployment(left, ", paused: true"), ""},
		"the finalizer of a resource":            {resource("", "{size: 1}"), resource("finalizers: [app.example.com/cleanup], ", "{size: 1}"), ""},
		"the spec of a resource":                 {resource("", "{size: 1}"), resource("", "{size: 2}"), foreign},
		"what is rendered no longer goes":        {deployment(labeled+owner, ""), "", ""},
		"a foreign ConfigMap goes":               {of("v1/ConfigMap", "", ""), "", foreign},
		"what was left goes":                     {deployment(left, ""), "", foreign},
		"Helm's record goes":                     {record, "", ""},
		"a Secret like Helm's record goes":       {strings.ReplaceAll(record, "owner: helm", "owner: me"), "", foreign},
		"a ConfigMap like Helm's record goes":    {strings.ReplaceAll(record, "Secret", "ConfigMap"), "", foreign},
		"Helm's record changes":                  {record, strings.ReplaceAll(record, "name: shop", "name: web"), foreign},
		"a resource with a ttl goes":             {resource("", "{ttl: 1h}"), "", ""},
		"a resource without a ttl goes":          {resource("", "{size: 1}"), "", foreign},
		"another kind with a ttl goes":           {deployment("", ", ttl: 1h"), "", foreign},
		"in kube-system": {
			"", strings.ReplaceAll(deployment(labeled+owner, ""), "namespace: shop", "namespace: kube-system"), "writes nothing in kube-system",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := written(t, test.before), written(t, test.now)
			got := strings.Join(policy.refusals(request(account, before, now), Write{}), "\n")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := policy.refusals(request("system:serviceaccount:shop:default", before, now), Write{}); len(got) > 0 {
				t.Errorf("another account is refused: %q", got)
			}
		})
	}
}

// An error would let a write pass unseen, and what costs too much is one: so the largest objects fit.
func TestTheLargestOwnWritesFit(t *testing.T) {
	var owners []any
	data := map[string]any{}
	for i := range 10_000 {
		owners = append(owners, map[string]any{"apiVersion": "apps/v1", "kind": "A", "name": "a", "uid": "u", "controller": true})
		data[fmt.Sprint("key", i)] = strings.Repeat("a", 50)
	}
	before := written(t, "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a, labels: {app.example.com/managed: 'true'}}}")
	before.Object["data"] = data
	require.NoError(t, unstructured.SetNestedSlice(before.Object, owners, "metadata", "ownerReferences"))
	now := before.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(now.Object, "b", "data", "key0"))
	policy := OwnWrites()
	if got := policy.refusals(request(account, before, now), Write{}); len(got) != 1 || !strings.Contains(got[0], "does not") {
		t.Errorf("got %q", got)
	}
	conditions, all := policy.costOf(request(account, before, now), Write{})
	t.Logf("it costs %d, its conditions %d", all, conditions)
	if all > celconfig.PerCallLimit*9/10 {
		t.Errorf("it costs %d of %d", all, celconfig.PerCallLimit)
	}
}
