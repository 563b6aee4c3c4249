package release

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/appservice-operator/internal/kube"
)

// What admission makes of the operator's own write stays: the operator still owns the field. What others change is theirs, and put back.
func TestWhatAdmissionChangedIsNoDrift(t *testing.T) {
	const applied = `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":
		{".":{},"f:name":{},"f:image":{},"f:args":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}}}}}}}}}`
	const rendered = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, template: {spec: {containers: [
 {name: app, image: nginx, args: [a], ports: [{containerPort: 80, name: http}]}]}}}}`
	for name, test := range map[string]struct {
		old, new string // what was replaced in the live object
		given    string // fields of the operator that became somebody else's
		want     bool
	}{
		"nothing":                               {"", "", "", true},
		"an image":                              {"image: nginx", "image: mirror/nginx", "", true},
		"an image that somebody edited":         {"image: nginx", "image: evil", `"f:image":{},`, false},
		"a list that is one value":              {"args: [a]", "args: [a, b]", "", true},
		"a list that somebody edited":           {"args: [a]", "args: [b]", `"f:args":{},`, false},
		"a field of an element found by a port": {"name: http", "name: web", "", true},
		"a field that is gone":                  {"replicas: 2, ", "", "", false},
		"an element that is gone":               {"ports: [{containerPort: 80, name: http}]", "ports: []", "", false},
		"an image and a field of others":        {"replicas: 2, template: {spec: {containers: [\n {name: app, image: nginx", "replicas: 3, template: {spec: {containers: [\n {name: app, image: mirror/nginx", `"f:replicas":{},`, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := rendered
			if test.old != "" {
				text = strings.Replace(rendered, test.old, test.new, 1)
			}
			desired, live := object(t, rendered), object(t, strings.ReplaceAll(text, "containerPort: 80", "containerPort: 80, protocol: TCP"))
			fields := strings.Replace(applied, test.given, "", 1)
			live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields)}})
			if got := admitted(desired, live); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
			if !reflect.DeepEqual(desired.Object, object(t, rendered).Object) {
				t.Errorf("what is rendered was changed: %v", desired.Object)
			}
		})
	}
}
