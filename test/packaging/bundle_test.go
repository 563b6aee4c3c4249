package packaging

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Consoles show descriptors: every field at the top of spec and status has one, and none is of a field that is not there.
func TestDescriptors(t *testing.T) {
	for _, one := range at[list](t, csv(t).Object, "spec", "customresourcedefinitions", "owned") {
		owned := one.(object)
		kind := at[string](t, owned, "kind")
		if slices.Contains(published(t), kind) {
			continue // nobody has described its fields
		}
		t.Run(kind, func(t *testing.T) { describes(t, owned) })
	}
}

// published are the kinds of charts that are served as they were published.
func published(t *testing.T) (kinds []string) {
	t.Helper()
	for _, entry := range read[list](t, filepath.Join(root, "watches.yaml")) {
		if entry.(object)["from"] != nil {
			kinds = append(kinds, at[string](t, entry.(object), "kind"))
		}
	}
	return kinds
}

// describes holds the entry of a kind against its CRD.
func describes(t *testing.T, owned object) {
	t.Helper()
	plural, group, _ := strings.Cut(at[string](t, owned, "name"), ".")
	crd := read[object](t, filepath.Join(present, group+"_"+plural+".yaml"))
	schema := at[object](t, at[list](t, crd, "spec", "versions")[0].(object), "schema", "openAPIV3Schema", "properties")
	for part, descriptors := range map[string]string{"spec": "specDescriptors", "status": "statusDescriptors"} {
		described := map[string]bool{}
		for _, entry := range at[list](t, owned, descriptors) {
			descriptor := entry.(object)
			path, _ := descriptor["path"].(string)
			described[path] = true
			if descriptor["displayName"] == "" || descriptor["description"] == "" {
				t.Errorf("%s.%s has no name or no description: %v", part, path, descriptor)
			}
			steps := []string{part}
			for _, step := range strings.Split(path, ".") {
				steps = append(steps, "properties", step)
			}
			at[object](t, schema, steps...)
		}
		for field := range at[object](t, schema, part, "properties") {
			assert.True(t, described[field], "%s.%s has no descriptor: give it a marker +operator-sdk:csv in api/v1", part, field)
		}
	}
}

// OLM installs what the operator serves, the manager of this very version needs it all.
func TestTheBundleOwnsEachKindThatIsServed(t *testing.T) {
	owned := map[string]bool{}
	for _, one := range at[list](t, csv(t).Object, "spec", "customresourcedefinitions", "owned") {
		owned[at[string](t, one.(object), "kind")] = true
	}
	for _, entry := range read[list](t, filepath.Join(root, "watches.yaml")) {
		kind := at[string](t, entry.(object), "kind")
		assert.True(t, owned[kind], "the bundle does not own %s: run make generate bundle", kind)
		delete(owned, kind)
	}
	for kind := range owned {
		t.Errorf("the bundle owns %s, which watches.yaml does not name", kind)
	}
}

// The rules of OLM v1 for bundles, which those of OLM v0 include.
func TestOLMv1AcceptsTheBundle(t *testing.T) {
	spec := at[object](t, csv(t).Object, "spec")
	if webhooks, found := spec["webhookdefinitions"]; found {
		t.Errorf("it has webhooks: %v", webhooks)
	}
	if required, found := at[object](t, spec, "customresourcedefinitions")["required"]; found {
		t.Errorf("it requires kinds of others: %v", required)
	}
	assert.Empty(t, at[object](t, spec, "apiservicedefinitions"), "it has API services")
	for _, mode := range at[list](t, spec, "installModes") {
		assert.EqualValues(t, true, mode.(object)["supported"], "install mode %v is not supported", mode)
	}
	assert.Len(t, at[list](t, spec, "installModes"), 4)
	if _, err := os.Stat(filepath.Join(present, "../metadata/dependencies.yaml")); !os.IsNotExist(err) {
		t.Error("it has dependencies or constraints, which OLM v1 does not resolve")
	}
	// Kinds that a cluster may not serve would make an InstallPlan stick.
	served := []string{"ClusterRole", "ClusterServiceVersion", "CustomResourceDefinition", "PodDisruptionBudget", "Service"}
	for _, object := range manifests(t) {
		if kind := object["kind"].(string); !slices.Contains(served, kind) {
			t.Errorf("it has a %s", kind)
		}
	}
}

func manifests(t *testing.T) []object {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(present, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the bundle has the files %v (error %v)", files, err)
	}
	var objects []object
	for _, file := range files {
		objects = append(objects, read[object](t, file))
	}
	return objects
}

// The bundle asks for exactly the rights of config/rbac, in namespaces and outside of them, and for no wildcard.
func TestRights(t *testing.T) {
	install := at[object](t, csv(t).Object, "spec", "install", "spec")
	var granted []string
	for _, permissions := range []string{"permissions", "clusterPermissions"} {
		for _, entry := range at[list](t, install, permissions) {
			for _, rule := range at[list](t, entry.(object), "rules") {
				granted = append(granted, permissions+" "+encode(t, rule))
			}
		}
	}
	for _, grant := range granted {
		assert.NotContains(t, grant, "*", "a wildcard: %s", grant)
	}
	var shipped []string
	for file, permissions := range map[string]string{
		"role": "permissions", "leader_election_role": "permissions",
		"cluster_role": "clusterPermissions", "metrics_auth_role": "clusterPermissions",
	} {
		for _, rule := range at[list](t, read[object](t, filepath.Join(root, "config/rbac", file+".yaml")), "rules") {
			shipped = append(shipped, permissions+" "+encode(t, rule))
		}
	}
	slices.Sort(granted)
	slices.Sort(shipped)
	assert.Equal(t, shipped, granted, "the bundle grants\n%s\nwant\n%s", strings.Join(granted, "\n"), strings.Join(shipped, "\n"))
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestVersionsAgree(t *testing.T) {
	version := version(t)
	bundle := csv(t)
	chart := read[object](t, filepath.Join(root, "config/chart/Chart.yaml"))
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	if versions := regexp.MustCompile(`VERSION=[0-9.]+`).FindAllString(string(dockerfile), -1); len(versions) != 1 || versions[0] != "VERSION="+version {
		t.Errorf("the Dockerfile has %q, want VERSION=%s once", versions, version)
	}
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	newest := regexp.MustCompile(`(?m)^## (\S+)`).FindStringSubmatch(string(changes)) // make release-notes looks for it
	require.NotNil(t, newest, "CHANGELOG.md has no section of a version")
	checkDocumentedVersions(t, version)
	related := at[list](t, bundle.Object, "spec", "relatedImages")[0].(object)
	for what, got := range map[string]any{
		"the bundle's name":           strings.TrimPrefix(bundle.GetName(), "appservice-operator.v"),
		"the bundle's version":        at[string](t, bundle.Object, "spec", "version"),
		"what is skipped ends at":     bundle.GetAnnotations()["olm.skipRange"][len(">=0.1.0 <"):],
		"CHANGELOG.md's newest":       newest[1],
		"the chart's version":         chart["version"],
		"the version that it deploys": chart["appVersion"],
		"the annotated image":         strings.TrimPrefix(bundle.GetAnnotations()["containerImage"], "example.com/appservice-operator:v"),
		"the related image":           strings.TrimPrefix(related["image"].(string), "example.com/appservice-operator:v"),
	} {
		assert.EqualValues(t, version, got, "%s is %v, want %s, the Makefile's VERSION", what, got, version)
	}
}

// checkDocumentedVersions holds what people copy from the documents, an image, a package of the chart or its version, against the version.
// The changelog is about all versions.
func checkDocumentedVersions(t *testing.T, version string) {
	t.Helper()
	copied := regexp.MustCompile(`(?:appservice-operator(?:-[a-z]+)?:v|appservice-operator-|targetRevision: v?|\{tag: v?)(\d+\.\d+\.\d+)`)
	found := 0
	for _, path := range markdown(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		for _, named := range copied.FindAllStringSubmatch(text(t, path), -1) {
			found++
			assert.EqualValues(t, version, named[1], "%s has %s, want %s", path, named[0], version)
		}
	}
	assert.NotZero(t, found, "no document names a version")
}

// The base images of the Dockerfiles are those that the repository is built and tested with.
func TestBaseImagesAreWhatIsUsedHere(t *testing.T) {
	for file, c := range map[string]struct{ module, required, base string }{
		"Dockerfile":                {"go.mod", `(?m)^go (\d+\.\d+)`, `golang:(\d+\.\d+)`},
		"test/scorecard/Dockerfile": {"go.mod", `(?m)^go (\d+\.\d+)`, `golang:(\d+\.\d+)`},
		"catalog.Dockerfile":        {"tools/pins/opm/go.mod", `operator-registry (v\S+)`, `opm:(v[\d.]+)`},
	} {
		want := regexp.MustCompile(c.required).FindStringSubmatch(text(t, filepath.Join(root, c.module)))
		require.NotNil(t, want, "%s has no %s", c.module, c.required)
		bases := regexp.MustCompile(`(?m)^ARG \w+=\S*`+c.base).FindAllStringSubmatch(text(t, filepath.Join(root, file)), -1)
		assert.NotEmpty(t, bases, "%s has no base image %s", file, c.base)
		for _, base := range bases {
			assert.EqualValues(t, want[1], base[1], "%s begins with %s, and %s has %s", file, base[0], c.module, want[1])
		}
		for _, from := range regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)`).FindAllStringSubmatch(text(t, filepath.Join(root, file)), -1) {
			argument := `(?m)^ARG ` + strings.Trim(from[1], "${}") + `=[\w./-]+:[\w.-]+(@sha256:[0-9a-f]{64})?$`
			assert.Regexp(t, argument, text(t, filepath.Join(root, file)), "%s: no argument that Renovate can add a digest to is in %q", file, from[0])
		}
	}
}

// Artifact Hub reads from the installation chart what OperatorHub reads from the bundle.
func TestArtifactHubSaysWhatTheBundleSays(t *testing.T) {
	annotations := at[object](t, read[object](t, filepath.Join(root, "config/chart/Chart.yaml")), "annotations")
	if got, want := annotations["artifacthub.io/operatorCapabilities"], csv(t).GetAnnotations()["capabilities"]; got != want {
		t.Errorf("the capability level is %v, want %s", got, want)
	}
	var kinds []object
	require.NoError(t, yaml.Unmarshal([]byte(annotations["artifacthub.io/crds"].(string)), &kinds))
	var got, want []string
	for _, kind := range kinds {
		got = append(got, fmt.Sprint(kind["name"], " ", kind["kind"], " ", kind["version"]))
	}
	for _, owned := range at[list](t, csv(t).Object, "spec", "customresourcedefinitions", "owned") {
		crd := owned.(object)
		if slices.Contains(published(t), at[string](t, crd, "kind")) {
			continue // it is not one of the project
		}
		want = append(want, fmt.Sprint(crd["name"], " ", crd["kind"], " ", crd["version"]))
	}
	slices.Sort(got)
	slices.Sort(want)
	assert.Equal(t, want, got)
}

// Values that operator-sdk would fill in, or leave out, come from files: the bundle is the same each time.
func TestTheBundleIsCompletedFromFiles(t *testing.T) {
	base := read[object](t, filepath.Join(root, "config/manifests/bases", csvFile))
	want := at[string](t, base, "metadata", "annotations", "createdAt")
	assert.EqualValues(t, want, csv(t).GetAnnotations()["createdAt"])
	picture, err := os.ReadFile(filepath.Join(root, "config/manifests/icon.svg"))
	require.NoError(t, err)
	icon := at[list](t, csv(t).Object, "spec", "icon")[0].(object)
	if icon["base64data"] != base64.StdEncoding.EncodeToString(picture) || icon["mediatype"] != "image/svg+xml" {
		t.Error("the icon is not config/manifests/icon.svg")
	}
	for _, stage := range at[list](t, read[object](t, filepath.Join(present, "../tests/scorecard/config.yaml")), "stages") {
		for _, test := range at[list](t, stage.(object), "tests") {
			if image, _ := test.(object)["image"].(string); !strings.Contains(image, "/") {
				t.Errorf("the scorecard test %v has the image %q", test.(object)["entrypoint"], image)
			}
		}
	}
}
