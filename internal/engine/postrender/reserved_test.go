package postrender

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReservedKeysOfASpecEndInNoObject(t *testing.T) {
	cases := map[string]struct {
		spec, object string
		want         string // the field that is refused; empty for none
	}{
		"a label of the chart's own": {
			`{}`, `{kind: Service, metadata: {name: web, labels: {pod-security.kubernetes.io/enforce: x, helm.sh/chart: x}, annotations: {helm.sh/resource-policy: keep}}}`, "",
		},
		"a label": {
			`{labels: {pod-security.kubernetes.io/enforce: privileged}}`,
			`{kind: Namespace, metadata: {name: web, labels: {pod-security.kubernetes.io/enforce: privileged}}}`, "spec.labels",
		},
		"a label by a list": {
			`{tags: [{name: a, value: b}, {name: service.kubernetes.io/service-proxy-name, value: x}]}`,
			`{kind: Service, metadata: {name: web, labels: {service.kubernetes.io/service-proxy-name: x}}}`, "spec.tags[1].name",
		},
		"an annotation": {
			`{service: {annotations: {app.example.com/retained-for: other}}}`,
			`{kind: Service, metadata: {name: web, annotations: {app.example.com/retained-for: other}}}`, "spec.service.annotations",
		},
		"an annotation of pods": {
			`{a: {b: {helm.sh/hook: x}}}`, `{kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {annotations: {helm.sh/hook: x}}}}}`, "spec.a.b",
		},
		"an annotation of what others make": {
			`{a: {app.example.com/retained-for: other}}`, `{kind: Certificate, metadata: {name: web}, spec: {secretTemplate: {annotations: {app.example.com/retained-for: other}}}}`, "spec.a",
		},
		"an annotation of a claim": {
			`{a: {app.example.com/retained-for: other}}`,
			`{kind: StatefulSet, metadata: {name: web}, spec: {volumeClaimTemplates: [{metadata: {annotations: {app.example.com/retained-for: other}}}]}}`, "spec.a",
		},
		"an annotation that is free": {
			`{ingress: {annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}}}`,
			`{kind: Ingress, metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}}}`, "",
		},
		"what selects": {
			`{affinity: {podAffinity: [{labelSelector: {matchLabels: {helm.sh/chart: x}}}]}, nodeSelector: {kubernetes.io/os: linux}}`,
			`{kind: Deployment, metadata: {name: web, labels: {helm.sh/chart: x}}, spec: {template: {spec: {nodeSelector: {kubernetes.io/os: linux}}}}}`, "",
		},
		"what becomes no label": {
			`{topologyKey: kubernetes.io/hostname}`, `{kind: Deployment, metadata: {name: web}, spec: {topologyKey: kubernetes.io/hostname}}`, "",
		},
		"no spec": {`null`, `{kind: Service, metadata: {name: web, labels: {helm.sh/chart: x}}}`, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			owner := parse(t, "{apiVersion: app.example.com/v1, kind: AppService, metadata: {name: web}, spec: "+test.spec+"}")
			err := Reserved(t.Context(), &Input{Owner: owner}, []*unstructured.Unstructured{parse(t, test.object)})
			var refused *ReservedError
			switch {
			case test.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case test.want != "" && (!errors.As(err, &refused) || refused.Field != test.want):
				t.Errorf("got %v, want a refusal of %s", err, test.want)
			}
		})
	}
}
