package packaging

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
)

// upgrade asks crdify whether OLM v1 would let a CRD replace that of v0.1.0, and returns what it says against it.
func upgrade(t *testing.T, crd string) (refusal string) {
	t.Helper()
	before, err := filepath.Abs(filepath.Join(released, crdFile))
	require.NoError(t, err)
	output, err := command(t, "crdify", "--config=tools/pins/crdify/olm.yaml", "file://"+before, "file://"+crd).CombinedOutput()
	if err == nil {
		return ""
	}
	return string(output) + err.Error()
}

// OLM v1 blocks an upgrade whose CRD could break existing resources.
func TestTheCRDUpgradesThatOfTheFirstRelease(t *testing.T) {
	crd, err := filepath.Abs(filepath.Join(present, crdFile))
	require.NoError(t, err)
	assert.Empty(t, upgrade(t, crd), "OLM v1 would block the upgrade from v0.1.0")
}

func TestUnsafeCRDsAreFound(t *testing.T) {
	spec := []string{"schema", "openAPIV3Schema", "properties", "spec"}
	field := func(name string) []string { return append(append([]string{}, spec...), "properties", name) }
	cases := map[string]struct {
		change func(t *testing.T, version object)
		want   string // in the refusal; nothing if there is none
	}{
		"nothing changed": {func(*testing.T, object) {}, ""},
		"a new optional field": {func(t *testing.T, v object) {
			at[object](t, v, append(spec, "properties")...)["fresh"] = object{"type": "string"}
		}, ""},
		"another description": {func(t *testing.T, v object) { at[object](t, v, field("size")...)["description"] = "Other." }, ""},
		"a new value of an enum": {func(t *testing.T, v object) {
			policy := at[object](t, v, field("imagePullPolicy")...)
			policy["enum"] = append(policy["enum"].(list), "Sometimes")
		}, ""},
		"a new required field": {func(t *testing.T, v object) {
			part := at[object](t, v, spec...)
			part["required"] = append(part["required"].(list), "ports")
		}, "required"},
		"a removed field": {func(t *testing.T, v object) { delete(at[object](t, v, append(spec, "properties")...), "paused") }, "paused"},
		"another type":    {func(t *testing.T, v object) { at[object](t, v, field("paused")...)["type"] = "string" }, "type"},
		"another default": {func(t *testing.T, v object) { at[object](t, v, field("size")...)["default"] = 2 }, "default"},
		"a tighter bound": {func(t *testing.T, v object) { at[object](t, v, field("size")...)["minimum"] = 1 }, "minimum"},
		"a value less in an enum": {func(t *testing.T, v object) {
			policy := at[object](t, v, field("imagePullPolicy")...)
			policy["enum"] = policy["enum"].(list)[1:]
		}, "enum"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			crd := read[object](t, filepath.Join(released, crdFile))
			test.change(t, at[list](t, crd, "spec", "versions")[0].(object))
			text, err := yaml.Marshal(crd)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "crd.yaml")
			files.Write(t, file, string(text))
			refusal := upgrade(t, file)
			if (refusal == "") != (test.want == "") || !strings.Contains(refusal, test.want) {
				t.Errorf("got the refusal %q, want one that has %q", refusal, test.want)
			}
		})
	}
}
