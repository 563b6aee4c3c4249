package postrender

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPullPolicyIsTheAPIServers(t *testing.T) {
	cases := map[string]struct {
		container string
		want      corev1.PullPolicy
	}{
		"no tag":                        {"{name: app, image: nginx}", corev1.PullAlways},
		"the tag latest":                {"{name: app, image: 'nginx:latest'}", corev1.PullAlways},
		"another tag":                   {"{name: app, image: 'nginx:1.27'}", corev1.PullIfNotPresent},
		"a registry's port, no tag":     {"{name: app, image: 'registry:5000/nginx'}", corev1.PullAlways},
		"a registry's port and a tag":   {"{name: app, image: 'registry:5000/nginx:1'}", corev1.PullIfNotPresent},
		"a digest":                      {"{name: app, image: 'nginx@sha256:0000'}", corev1.PullIfNotPresent},
		"a digest and the tag latest":   {"{name: app, image: 'nginx:latest@sha256:0000'}", corev1.PullAlways},
		"what the spec says is what is": {"{name: app, image: nginx, imagePullPolicy: Never}", corev1.PullNever},
	}
	for name, test := range cases {
		for _, list := range []string{"containers", "initContainers"} {
			t.Run(name+", "+list, func(t *testing.T) {
				object := run(t, pods(t, "{"+list+": ["+test.container+"]}"), PullPolicy)
				containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", list)
				assert.Equal(t, string(test.want), containers[0].(map[string]any)["imagePullPolicy"])
			})
		}
	}
}
