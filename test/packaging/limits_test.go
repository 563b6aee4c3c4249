package packaging

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example/appservice-operator/internal/engine/kube/limits"
	"github.com/example/appservice-operator/internal/engine/render/podtemplate"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/test/files"
)

// A limit of the operator must not refuse a value that the CRD allows, nor the other way round.
func TestLimitsOfTheCRDAreThoseOfTheOperator(t *testing.T) {
	crd := files.CRD(t, "config/crd/bases/app.example.com_appservices.yaml")
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	const atMost = `<= (\d+)$`
	for name, test := range map[string]struct {
		schema        apiextensionsv1.JSONSchemaProps
		rule, message string // expressions, with the limit as a group
		limit         string
	}{
		"paths of an Ingress":     {spec.Properties["ingress"], atMost, `more than (\d+) paths`, fmt.Sprint(limits.RoutePaths)},
		"combinations of a route": {spec.Properties["route"], atMost, `more than (\d+) combinations`, fmt.Sprint(limits.RoutePaths)},
		"a time to live":          {spec.Properties["ttl"], `>= duration\('(\w+)'\)`, `at least (\w+) and`, "1m"},
	} {
		t.Run(name, func(t *testing.T) {
			found := false
			for _, rule := range test.schema.XValidations {
				in, said := regexp.MustCompile(test.rule).FindStringSubmatch(rule.Rule), regexp.MustCompile(test.message).FindStringSubmatch(rule.Message)
				if in == nil || said == nil {
					continue
				}
				found = true
				if in[1] != test.limit || said[1] != test.limit {
					t.Errorf("the rule limits it to %s and says %s, the operator to %s", in[1], said[1], test.limit)
				}
			}
			assert.True(t, found, "the CRD has no such rule")
		})
	}
	if least, err := time.ParseDuration("1m"); err != nil || least != status.MinTTL {
		t.Errorf("the shortest time to live is %s for the operator", status.MinTTL)
	}
	if size := regexp.MustCompile(`at most (\d+) KiB`).FindStringSubmatch(spec.Properties["podTemplate"].Description); size == nil || size[1] != strconv.Itoa(podtemplate.MaxSize>>10) {
		t.Errorf("the CRD says of podTemplate %v, the operator takes %d bytes", size, podtemplate.MaxSize)
	}
	config := 0
	for _, rule := range spec.Properties["config"].XValidations {
		if of := regexp.MustCompile(atMost).FindStringSubmatch(rule.Rule); of != nil {
			limit, err := strconv.Atoi(of[1])
			require.NoError(t, err)
			config = cmp.Or(config, limit)
		}
	}
	if config == 0 || config > limits.Resource*3/4 {
		t.Errorf("the CRD takes %d bytes of config, and the operator %d of everything", config, limits.Resource)
	}
}
