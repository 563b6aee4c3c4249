package kinds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// others is a chart of others, in a folder.
func others(t *testing.T, version string, templates map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "up-time")
	put(t, folder, "Chart.yaml", "{apiVersion: v2, name: up-time, version: "+version+", description: Watches sites.}\n")
	put(t, folder, "values.yaml", "# Whether it keeps data.\nkeep: false\n")
	put(t, folder, ".helmignore", "notes.md\n")
	put(t, folder, "notes.md", "of its authors")
	for name, text := range templates {
		put(t, folder, name, text)
	}
	return folder
}

// serving is a repository that serves AppService.
func serving(t *testing.T) string {
	t.Helper()
	root := empty(t)
	put(t, root, "config/crd/bases/app.example.com_appservices.yaml", likeCRD)
	return root
}

var deployment = map[string]string{
	"templates/web.yaml":   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}\n",
	"templates/claim.yaml": "{{ if .Values.keep }}\n" + claimOf + "{{ end }}",
}

func TestAChartOfOthersBecomesAKind(t *testing.T) {
	for name, from := range map[string]func(folder string) string{
		"of a folder": func(folder string) string { return folder },
		"of a package": func(folder string) string {
			c, err := appchart.LoadPublished(os.DirFS(filepath.Dir(folder)), "up-time")
			require.NoError(t, err)
			file, err := chartutil.Save(c, filepath.Dir(folder))
			require.NoError(t, err)
			return file
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := serving(t)
			made, remarks, err := Publish(root, Wanted{From: from(others(t, "1.0.0", deployment))})
			require.NoError(t, err)
			assert.Equal(t, []string{
				"config/crd/bases/app.example.com_uptimes.yaml", "config/samples/app_v1_uptime.yaml", "helm-charts/up-time",
				"test/testdata/kinds/up-time/minimal/cr.yaml", "watches.yaml",
			}, made)
			assert.Empty(t, remarks)
			_, entry, found := strings.Cut(read(t, root, watchesFile), "appservice}\n")
			require.True(t, found)
			assert.Equal(t, `- group: app.example.com
  version: v1
  kind: UpTime
  chart: helm-charts/up-time
  from: published
  # The kinds that the chart may render.
  renders:
  - Deployment.apps
  # with keep: true
  - PersistentVolumeClaim
`, entry)
			list, err := appchart.LoadWatches([]byte(entry), os.DirFS(root))
			require.NoError(t, err)
			assert.Len(t, list[0].Renders, 2)
			assert.Equal(t, deployment["templates/web.yaml"], read(t, root, "helm-charts/up-time/templates/web.yaml"))
			assert.Contains(t, read(t, root, "config/crd/bases/app.example.com_uptimes.yaml"), "description: Whether it keeps data.\n")
		})
	}
}

func TestAnotherVersionKeepsTheEntry(t *testing.T) {
	root := serving(t)
	_, _, err := Publish(root, Wanted{From: others(t, "1.0.0", deployment)})
	require.NoError(t, err)
	put(t, root, "config/samples/app_v1_uptime.yaml", "mine")
	before := read(t, root, watchesFile)
	made, remarks, err := Publish(root, Wanted{From: others(t, "2.0.0", map[string]string{
		"values.yaml":        "another: 1\n",
		"templates/web.yaml": strings.Replace(deployment["templates/web.yaml"], "Deployment", "DaemonSet", 1),
		"templates/role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\n" +
			"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
		"crds/bucket.yaml": bucket,
	})})
	require.NoError(t, err)
	assert.Equal(t, []string{"config/crd/bases/app.example.com_uptimes.yaml", "config/crd/published/up-time.yaml", "helm-charts/up-time"}, made)
	assert.Equal(t, before, read(t, root, watchesFile))
	assert.Equal(t, "mine", read(t, root, "config/samples/app_v1_uptime.yaml"))
	assert.Contains(t, read(t, root, "config/crd/bases/app.example.com_uptimes.yaml"), "another:\n")
	if _, err := os.Stat(filepath.Join(root, "helm-charts/up-time/templates/claim.yaml")); err == nil {
		t.Error("a template of the first version is left")
	}
	for _, part := range []string{"renders of watches.yaml lacks DaemonSet.apps", "renders of watches.yaml lacks Role.rbac", "resources: [pods]", "kubectl apply --server-side -f config/crd/published/up-time.yaml"} {
		assert.Contains(t, strings.Join(remarks, "\n"), part)
	}
	require.NoError(t, os.Remove(filepath.Join(root, "config/crd/bases/app.example.com_uptimes.yaml")))
	_, err = served(root)
	require.ErrorContains(t, err, "make kind FROM=helm-charts/up-time KIND=UpTime writes it")
	_, _, err = Publish(root, Wanted{From: others(t, "1.0.0", deployment)})
	require.NoError(t, err)
	_, err = served(root)
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, "config/crd/published/up-time.yaml")); err == nil {
		t.Error("the definitions of another version are left")
	}
}

func TestPublishRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		wanted Wanted
		file   string
		want   string
	}{
		"no such chart":             {Wanted{From: "none"}, "", "none"},
		"a kind that is served":     {Wanted{Kind: "Appservice"}, "", "watches.yaml has AppService already, of the chart helm-charts/appservice: give it another name"},
		"a chart without a part":    {Wanted{From: "incomplete"}, "", "missing in the folder charts: sub"},
		"a chart of nothing":        {Wanted{From: "nothing"}, "", "renders nothing"},
		"no kind":                   {Wanted{Kind: "a"}, "", "cannot be a kind"},
		"a chart that is there":     {Wanted{}, "helm-charts/up-time/mine", "helm-charts/up-time is there already"},
		"a sample that is there":    {Wanted{}, "config/samples/app_v1_uptime.yaml", "config/samples/app_v1_uptime.yaml is there already"},
		"a golden case of another":  {Wanted{}, "test/testdata/kinds/up-time/minimal/cr.yaml", "is there already"},
		"a CRD of another in CRDs":  {Wanted{}, "config/crd/bases/app.example.com_uptimes.yaml", "is there already"},
		"an option of others":       {Wanted{}, "config/rights/uptime/kustomization.yaml", "config/rights/uptime is there already: take another name, as in KIND=MyUpTime"},
		"a chart of another entry":  {Wanted{Kind: "Other"}, "served", "watches.yaml has helm-charts/up-time already, for UpTime"},
		"another group of the kind": {Wanted{Group: "example.com"}, "served", "watches.yaml has UpTime already"},
	} {
		t.Run(name, func(t *testing.T) {
			root := serving(t)
			switch test.wanted.From {
			case "":
				test.wanted.From = others(t, "1.0.0", deployment)
			case "incomplete":
				test.wanted.From = others(t, "1.0.0", map[string]string{"Chart.yaml": "{apiVersion: v2, name: up-time, version: 1.0.0, dependencies: [{name: sub, version: 1.0.0}]}"})
			case "nothing":
				test.wanted.From = others(t, "1.0.0", nil)
			}
			switch test.file {
			case "":
			case "served":
				_, _, err := Publish(root, Wanted{From: test.wanted.From})
				require.NoError(t, err)
			default:
				put(t, root, test.file, "{}")
			}
			before := read(t, root, watchesFile)
			_, _, err := Publish(root, test.wanted)
			assert.ErrorContains(t, err, test.want)
			assert.Equal(t, before, read(t, root, watchesFile))
			if _, err := os.Stat(filepath.Join(root, "helm-charts/up-time/Chart.yaml")); err == nil && test.file != "served" {
				t.Error("the chart was written")
			}
		})
	}
}

func TestAChartThatTheOperatorRefusesHasNoGoldenCase(t *testing.T) {
	root := serving(t)
	made, remarks, err := Publish(root, Wanted{From: others(t, "1.0.0", map[string]string{
		"templates/claim.yaml": strings.Replace(claimOf, "metadata: {", "metadata: {annotations: {a: {{ required \"say what\" .Values.what }}}, ", 1),
	}), Names: []string{"mine"}})
	require.NoError(t, err)
	assert.NotContains(t, strings.Join(made, " "), "testdata")
	for _, part := range []string{"does not render without values", "say what", "The sample is refused"} {
		assert.Contains(t, strings.Join(remarks, "\n"), part)
	}
	assert.Contains(t, read(t, root, "config/samples/app_v1_uptime.yaml"), "  name: mine\n")
	assert.Contains(t, read(t, root, watchesFile), "  - PersistentVolumeClaim\n")
}

// published is a kind of a chart that brings the kind Bucket, as watches.yaml has it.
func published(t *testing.T, root, entry string) kind {
	t.Helper()
	put(t, root, "config/crd/published/up-time.yaml", bucket)
	k := kind{}
	require.NoError(t, yaml.Unmarshal([]byte("{group: app.example.com, version: v1, kind: UpTime, chart: helm-charts/up-time, from: published}"), &k))
	require.NoError(t, yaml.Unmarshal([]byte(entry), &k))
	require.NoError(t, k.read(root))
	return k
}

func TestRightsFollowFromRendersAndGrants(t *testing.T) {
	root, list := repository(t, "", "apps/v1 Deployment")
	k := published(t, root, `
renders: [Deployment.apps, StatefulSet.apps, ClusterRole.rbac.authorization.k8s.io, Bucket.example.com, ServiceMonitor.monitoring.coreos.com]
grants:
- {apiGroups: [""], resources: [secrets, pods/log, nodes], verbs: [get, watch]}
- {apiGroups: [apps], resources: [deployments], verbs: [get, update]}
- {apiGroups: ["*"], resources: [secrets], verbs: [get]}
- {nonResourceURLs: [/metrics], verbs: [get]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], resourceNames: [view]}
`)
	k.crd = list[0].crd.DeepCopy()
	k.crd.Spec.Names.Plural = "uptimes"
	require.NoError(t, grants(root, append(list, k)))
	text := read(t, root, "config/rights/uptime/kustomization.yaml")
	inside, outside, found := strings.Cut(text, "manager-cluster-role")
	require.True(t, found, text)
	rule := func(group, resources, verbs string) string {
		return "        apiGroups: [" + group + "]\n        resources: [" + resources + "]\n        verbs: [" + verbs + "]\n"
	}
	const rendering = "get, list, watch, create, patch, delete"
	for part, where := range map[string]string{
		rule("apps", "statefulsets", rendering):                       inside,
		rule("monitoring.coreos.com", "servicemonitors", rendering):   inside,
		rule(`""`, "persistentvolumeclaims", "create, patch, delete"): inside, // others are read anyway
		rule(`""`, "pods/log", "get, watch"):                          inside,
		rule("apps", "deployments", "update"):                         inside,
		rule("example.com", "pails", rendering):                       outside,
		rule("rbac.authorization.k8s.io", "clusterroles", rendering):  outside,
		rule(`""`, "nodes", "get, watch"):                             outside,
		"        nonResourceURLs: [/metrics]\n        verbs: [get]\n": outside,
		"        resourceNames: [view]\n        verbs: [bind]\n":      outside,
	} {
		assert.Contains(t, where, part)
	}
	for _, part := range []string{"resources: [deployments]\n        verbs: [get", "resources: [secrets]\n        verbs", "apiGroups: [\"*\"]\n        resources"} {
		assert.NotContains(t, text, part)
	}
	assert.Contains(t, text, "# - apiGroups: [\"*\"]\n#   resources: [secrets]\n")
	assert.Contains(t, read(t, root, "config/rbac/role.yaml"), "resources: [uptimes]\n  verbs: [patch]\n", "it has a finalizer")
	assert.NotContains(t, read(t, root, "config/rbac/role.yaml"), "statefulsets")

	put(t, root, installerFile, "rights:\n  keda: false # ScaledObjects\n  # Others.\n  cluster: null\n")
	for range 2 {
		require.NoError(t, offer(root, append(list, k)))
		assert.Equal(t, "rights:\n  keda: false # ScaledObjects\n  uptime: false # what the chart up-time takes\n  # Others.\n  cluster: null\n", read(t, root, installerFile))
	}
	require.NoError(t, offer(root, list))
	assert.Equal(t, "rights:\n  keda: false # ScaledObjects\n  # Others.\n  cluster: null\n", read(t, root, installerFile))
}

func TestWhoMayWriteAKindOfAChart(t *testing.T) {
	for renders, want := range map[string]struct{ edit, view bool }{
		"Deployment.apps, Service":                                    {true, true},
		"Role.rbac.authorization.k8s.io":                              {false, true},
		"Bucket.example.com":                                          {false, true}, // cluster-scoped, says its CRD
		"APIService.apiregistration.k8s.io":                           {false, true},
		"ClusterIssuer.cert-manager.io":                               {false, true},
		"PriorityClass.scheduling.k8s.io":                             {false, true},
		"ServiceMonitor.monitoring.coreos.com":                        {true, true},
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io": {false, true},
	} {
		k := published(t, t.TempDir(), "renders: ["+renders+"]")
		_, list := repository(t, "")
		k.crd = list[0].crd
		for _, who := range people {
			aggregated := strings.Contains(k.role(who), "aggregate-to-"+who.to)
			if wanted := want.edit && who.to != "view" || want.view && who.to == "view"; aggregated != wanted {
				t.Errorf("%s, %s: got %t, want %t", renders, who.to, aggregated, wanted)
			}
		}
	}
}

func TestTheStatusOfAPublishedKindIsThatOfAll(t *testing.T) {
	root := serving(t)
	_, _, err := Publish(root, Wanted{From: others(t, "1.0.0", deployment)})
	require.NoError(t, err)
	put(t, root, "config/crd/bases/app.example.com_appservices.yaml", strings.Replace(likeCRD, "status: {type: object, properties: {", "status: {type: object, properties: {phase: {type: string}, ", 1))
	list, err := served(root)
	require.NoError(t, err)
	require.NoError(t, refresh(root, list))
	text := read(t, root, "config/crd/bases/app.example.com_uptimes.yaml")
	assert.Contains(t, text, "phase:\n")
	assert.Contains(t, text, "keep:\n")
}
