package plan

import (
	"reflect"
	"strings"
	"testing"
)

// Changes that admission makes to the operator's own write stay, as a dry run shows them. Everything else is drift.
func TestWhatAdmissionChangedIsNoDrift(t *testing.T) {
	const rendered = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}}, spec: {replicas: 2, template: {spec: {containers: [
 {name: app, image: nginx, args: [a], ports: [{containerPort: 80, name: http}]}]}}}}`
	const sidecar = "{name: proxy, image: proxy:1}, {name: app, image: nginx"
	mirrored := [2]string{"image: nginx", "image: mirror/nginx"}
	for name, test := range map[string]struct {
		admission, edit [2]string // what each replaces in the rendered object
		want            bool
	}{
		"nothing":                          {want: true},
		"an image":                         {admission: mirrored, edit: mirrored, want: true},
		"an image that somebody edited":    {edit: [2]string{"image: nginx", "image: evil"}},
		"an image that both changed":       {admission: mirrored, edit: [2]string{"image: nginx", "image: evil"}},
		"an image that somebody put right": {admission: mirrored},
		"a list that is one value":         {admission: [2]string{"args: [a]", "args: [a, b]"}, edit: [2]string{"args: [a]", "args: [a, b]"}, want: true},
		"a list that somebody edited":      {edit: [2]string{"args: [a]", "args: [b]"}},
		"a field that admission removes":   {admission: [2]string{"replicas: 2, ", ""}, edit: [2]string{"replicas: 2, ", ""}, want: true},
		"a field that is gone":             {edit: [2]string{"replicas: 2, ", ""}},
		"a container":                      {admission: [2]string{"{name: app, image: nginx", sidecar}, edit: [2]string{"{name: app, image: nginx", sidecar}, want: true},
		"a container that somebody added":  {edit: [2]string{"{name: app, image: nginx", sidecar}},
		"a container that somebody removed, which admission adds": {admission: [2]string{"{name: app, image: nginx", sidecar}},
		"a label that somebody added":                             {edit: [2]string{"app: web", "app: web, mine: x"}, want: true},
		"a default of the API server":                             {edit: [2]string{"name: app,", "name: app, terminationMessagePath: /dev/termination-log,"}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			with := func(change [2]string) string { return strings.Replace(rendered, change[0], change[1], 1) }
			desired, live := object(t, rendered), object(t, with(test.edit))
			got := CompareObject(AsAnswered(desired, object(t, with(test.admission))), live)
			if (got == nil) != test.want {
				t.Errorf("got the change %v, want none: %t", got, test.want)
			}
			if !reflect.DeepEqual(desired.Object, object(t, rendered).Object) {
				t.Errorf("what is rendered was changed: %v", desired.Object)
			}
		})
	}
}
