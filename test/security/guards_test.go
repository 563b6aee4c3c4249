//go:build cluster

package security

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// ownOperator is the label, with any value, of AppServices for which a vector has an operator of its own.
const ownOperator = "own-operator"

// served are the kinds that the operator of all vectors serves, as shipped but without those for which vectors have operators of their own.
const served = `
- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice, namespaceDefaults: [affinity, terminationGracePeriodSeconds, tolerations], selector: {matchExpressions: [{key: ` + ownOperator + `, operator: DoesNotExist}]}}
- {group: app.example.com, version: v1, kind: AppJob, chart: helm-charts/appjob, selector: {matchExpressions: [{key: ` + ownOperator + `, operator: DoesNotExist}]}}
`

// closedNetwork is the label, with any value, of a namespace in which no NetworkPolicy may be open.
const closedNetwork = "network"

// closedWildcards is the label, with any value, of a namespace that may use no host below a wildcard of others.
const closedWildcards = "wildcards"

// sharesHosts is the label, with any value, of a namespace that shares its hosts with others who do.
const sharesHosts = "hosts"

// mayWildcards are namespaces that may have wildcards, and share their hosts: those of other tenants.
const mayWildcards = guardsOnIn + "victim-*"

// rules is the policy: shared, and the built-in policy open in namespaces in which guards are off, or all except the policy are on.
func rules(t *testing.T) string {
	t.Helper()
	open := map[string]any{}
	files.Into(t, "internal/operator/policy/open.yaml", &open)
	entry := maps.Clone(open["default"].(map[string]any))
	entry["names"] = []any{guardsOffIn + "*", openIn + "*"}
	labeled := func(key string) map[string]any {
		return map[string]any{"matchExpressions": []any{map[string]any{"key": key, "operator": "Exists"}}}
	}
	text, err := yaml.Marshal(map[string]any{"builtIn": "shared", "namespaces": []any{
		map[string]any{"openNetworkPolicies": false, "selector": labeled(closedNetwork)},
		map[string]any{"belowWildcards": []any{}, "selector": labeled(closedWildcards)},
		map[string]any{"sharedHosts": []any{"*"}, "selector": labeled(sharesHosts)},
		map[string]any{"wildcardHosts": true, "sharedHosts": []any{"*"}, "names": []any{mayWildcards}}, entry,
	}})
	require.NoError(t, err)
	return string(text)
}

// everybodys is the operator that serves all namespaces.
var everybodys *harness.Manager

func startOperator(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	watches, policy := filepath.Join(dir, "watches.yaml"), filepath.Join(dir, "policy.yaml")
	for file, text := range map[string]string{watches: served + publishedKinds, policy: rules(t)} {
		files.Write(t, file, text)
	}
	everybodys = cluster.Manager(t, "", func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces, options.WatchesFile, options.ChartDir, options.Policy = nil, watches, files.Root(t), policy
	})
}

// withoutRules removes the rules, bounds, patterns and enumerations from the CRD of AppServices until the test is over.
func withoutRules(t *testing.T) {
	t.Helper()
	loose := shippedCRD(t)
	for i := range loose.Spec.Versions {
		strip(loose.Spec.Versions[i].Schema.OpenAPIV3Schema)
	}
	replaceCRD(t, loose, true)
	t.Cleanup(func() {
		assert.NoError(t, update(context.WithoutCancel(t.Context()), shippedCRD(t)), "cannot put the CRD back")
	})
}

// shippedCRD is the CRD of AppServices in the repository.
func shippedCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return files.CRD(t, "config/crd/bases/app.example.com_appservices.yaml")
}

// replaceCRD replaces a CRD and waits until the API server accepts what rules refuse, or does not.
func replaceCRD(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, takes bool) {
	t.Helper()
	namespace := newNamespace(t, "off-rules-", map[string]string{guardsOff: "off"})
	harness.Eventually(t, fmt.Sprintf("the CRD takes what its rules refuse: %t", takes), func() error {
		if err := update(t.Context(), crd); err != nil {
			return err
		}
		return obeys(t.Context(), namespace, takes)
	})
}

func update(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(crd), live); err != nil {
		return err
	}
	crd.Spec.DeepCopyInto(&live.Spec)
	return cluster.Client.Update(ctx, live)
}

// obeys returns nil if an image that no rule allows is accepted, or is not.
func obeys(ctx context.Context, namespace string, takes bool) error {
	app := harness.Seed(namespace, "rules")
	app.Spec.Image = "%"
	err := cluster.Client.Create(ctx, app, client.DryRunAll)
	if err == nil != takes || err != nil && !apierrors.IsInvalid(err) {
		return fmt.Errorf("an image that no rule allows: %w", err)
	}
	return nil
}

// strip removes everything from a schema that refuses values. Types and names stay.
func strip(schema *apiextensionsv1.JSONSchemaProps) {
	if schema == nil {
		return
	}
	schema.XValidations, schema.Pattern, schema.Enum, schema.Format = nil, "", nil, ""
	schema.Minimum, schema.Maximum, schema.MinLength, schema.MaxLength = nil, nil, nil, nil
	schema.MinItems, schema.MaxItems, schema.MinProperties, schema.MaxProperties = nil, nil, nil, nil
	schema.XListType, schema.XListMapKeys = nil, nil
	for name, property := range schema.Properties {
		strip(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		strip(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		strip(schema.AdditionalProperties.Schema)
	}
}
