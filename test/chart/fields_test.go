//go:build cluster

package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const topology = `fields:
  topology:
    type: object
    description: Topology says over how much pods are spread.
    properties:
      zoneCount:
        type: integer
        minimum: 1
        maximum: 9
        description: ZoneCount is the least number of zones that pods are spread over.
        default: 3
`

// TestAFieldNeedsNoGo adds spec.topology.zoneCount in the chart's folder alone, as a maintainer does, and checks that it takes effect.
func TestAFieldNeedsNoGo(t *testing.T) {
	r := copyOfRepository(t)
	r.add(t, "helm-charts/appservice/fields.yaml", topology)
	const template, annotation = "helm-charts/appservice/templates/_pod.tpl", "merge (dict) $checksum"
	text := r.read(t, template)
	if strings.Count(text, annotation) != 1 {
		t.Fatalf("%s has %q %d times, want once: adapt the test", template, annotation, strings.Count(text, annotation))
	}
	r.write(t, template, strings.Replace(text, annotation, `merge (dict "example.com/zones" (toString (int64 .Values.topology.zoneCount))) $checksum`, 1))
	r.write(t, "test/testdata/cases/topology/cr.yaml", `apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web, namespace: default, uid: 7f1b2f3e-0000-4000-8000-000000000000}
spec: {image: "nginx:1.29", topology: {zoneCount: 5}}
`)
	r.run(t, "make generate golden bundle")
	r.run(t, "make test-contract CONTRACTFLAGS=-update")

	r.has(t, map[string][]string{
		"config/crd/bases/app.example.com_appservices.yaml": {"zoneCount:\n", "description: ZoneCount is the least number of zones", "default: 3"},
		"test/testdata/cases/topology/golden.yaml":          {`example.com/zones: "5"`},
		"test/testdata/cases/minimal/golden.yaml":           {`example.com/zones: "3"`},
		"helm-charts/appservice/values.yaml":                {"topology:\n  # -- ZoneCount is the least number of zones that pods are spread over.\n  zoneCount: 3\n"},
		"helm-charts/appservice/values.schema.json":         {`"zoneCount": {"maximum": 9, "minimum": 1, "type": "integer"}`},
		"docs/reference/appservice.md":                      {"| `topology.zoneCount` _integer_ | ZoneCount is the least number of zones"},
		"docs/reference/fields.md":                          {"| `topology.zoneCount` | Deployment `spec.template.metadata.annotations` |"},
		"bundle/manifests/app.example.com_appservices.yaml": {"zoneCount:\n"},
		"bundle/manifests/appservice-operator.clusterserviceversion.yaml": {
			"- description: Topology says over how much pods are spread.\n        displayName: Topology\n        path: topology\n",
		},
	})
	r.neededNoGo(t)
	r.run(t, "git add --all && git -c user.name=test -c user.email=test@example.com commit --quiet --message=after && make manifests")
	assert.Empty(t, r.changed(t), "generating again changes")
	if !t.Failed() {
		show("fields_without_go", "ok")
	}
}
