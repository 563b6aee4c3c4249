package postrender

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/violation"
)

func TestAnImageWithAnImpossibleNameIsRefused(t *testing.T) {
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	const web = "{spec: {template: {spec: {containers: [{name: app, image: IMAGE}]}}}}"
	for name, test := range map[string]struct{ spec, object, image, want string }{
		"a name with all parts":        {"{image: IMAGE}", web, "registry.example.com:5000/team/shop:1.0.1@sha256:" + digest, ""},
		"a short name":                 {"{image: IMAGE}", web, "nginx", ""},
		"a registry in upper case":     {"{image: IMAGE}", web, "Registry.example.com/team/shop", ""},
		"a tag in upper case":          {"{image: IMAGE}", web, "nginx:V1.0", ""},
		"a repository in upper case":   {"{image: IMAGE}", web, "registry.example.com/Team/shop:1.0.1", "spec.image: \"registry.example.com/Team/shop:1.0.1\" is not a valid image name: repository name (Team/shop) must be lowercase"},
		"a short name in upper case":   {"{image: IMAGE}", web, "Nginx", "repository name (library/Nginx) must be lowercase"},
		"a tag with other characters":  {"{image: IMAGE}", web, "nginx:1+2", "spec.image: \"nginx:1+2\" is not a valid image name"},
		"a blank":                      {"{image: IMAGE}", web, "\"nginx \"", "is not a valid image name"},
		"an address":                   {"{image: IMAGE}", web, "https://ghcr.io/a/b:1", "is not a valid image name"},
		"a digest that is too short":   {"{image: IMAGE}", web, "nginx@sha256:0123", "spec.image: \"nginx@sha256:0123\" is not a valid image name"},
		"an image of a sidecar":        {"{image: a, sidecars: [{image: b}, {image: IMAGE}]}", web, "A", "spec.sidecars[1].image: "},
		"an image of the release task": {"{image: a, release: {image: IMAGE}}", "{kind: Job, " + web[1:], "A", "spec.release.image: "},
		"an image of an init container": {
			"{image: a, initContainers: [{image: IMAGE}]}", "{spec: {template: {spec: {initContainers: [{name: b, image: IMAGE}]}}}}", "A", "spec.initContainers[0].image: ",
		},
		"an image of podTemplate": {"{image: a, podTemplate: {spec: {containers: [{name: app, image: IMAGE}]}}}", web, "A", "spec.podTemplate.spec.containers[0].image: "},
		"a volume": {
			"{image: a, volumes: [{image: {reference: IMAGE}}]}", "{spec: {template: {spec: {volumes: [{name: b, image: {reference: IMAGE}}]}}}}", "A", "spec.volumes[0].image.reference: ",
		},
		"a CronJob":            {"{image: IMAGE}", "{kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: app, image: IMAGE}]}}}}}}", "A", "spec.image: "},
		"an image of defaults": {"{size: 1}", web, "A", `container app of Deployment "web": `},
	} {
		t.Run(name, func(t *testing.T) {
			owner, object := &unstructured.Unstructured{}, &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte("{spec: "+replaced(test.spec, test.image)+"}"), &owner.Object))
			require.NoError(t, yaml.Unmarshal([]byte(replaced(test.object, test.image)), &object.Object))
			object.SetName("web")
			group := map[string]string{"Job": "batch/v1", "CronJob": "batch/v1", "": "apps/v1"}[object.GetKind()]
			if object.SetAPIVersion(group); object.GetKind() == "" {
				object.SetKind("Deployment")
			}
			require.NoError(t, Images(t.Context(), &Input{Owner: owner}, []*unstructured.Unstructured{object}), "no policy is known")
			err := Images(t.Context(), &Input{Owner: owner, Facts: Facts{Policy: anything{}}}, []*unstructured.Unstructured{object})
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
			var wrong *ImageError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, v1.ReasonImageNameInvalid, wrong.Reason())
			assert.Contains(t, wrong.Hint(), "correct "+wrong.Field)
		})
	}
}

// anything allows everything.
type anything struct{}

func (anything) Allow(_, _ []*unstructured.Unstructured) (*violation.Error, error) { return nil, nil }

func replaced(text, image string) string {
	return strings.ReplaceAll(text, "IMAGE", image)
}
