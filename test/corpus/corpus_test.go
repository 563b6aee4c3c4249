//go:build corpus

// Package corpus imports public manifests, which nobody wrote for it, and renders them under the built-in policies.
package corpus

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/config"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/plugin/importer"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// text returns the files as one manifest. It skips the test if one of them is not in the folder.
func (s source) text(t *testing.T, folder string) []byte {
	t.Helper()
	var all [][]byte
	for _, file := range s.Files {
		text, err := os.ReadFile(filepath.Join(folder, strings.Replace(s.Repository, "/", "-", 1), file.Path))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("%s of %s is not in %s", file.Path, s.Repository, folder)
		}
		require.NoError(t, err)
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != file.SHA256 {
			t.Fatalf("%s is not the file at %s that SOURCES.yaml names", file.Path, s.Commit)
		}
		all = append(all, text)
	}
	return bytes.Join(all, []byte("\n---\n"))
}

// grounds are the built-in policies, with the share of AppServices, in percent, that each may refuse. Those of shared name
// addresses, certificates, volumes or priorities that tenants must not choose, or leave a mesh.
var grounds = []struct {
	name policy.BuiltIn
	most float64
}{{policy.Open, 0}, {policy.Shared, 3}}

// named is an error that says which object, or which document of a file, is meant.
var named = regexp.MustCompile(`document \d+|among \d+ objects|(Deployment|StatefulSet|ReplicaSet|ReplicationController|Pod|Job|CronJob|Service|Ingress|ConfigMap|ServiceAccount|PersistentVolumeClaim|HorizontalPodAutoscaler|PodDisruptionBudget|NetworkPolicy) \S+`)

// tally counts for all manifests at once.
type tally struct {
	sync.Mutex
	appServices int
	refused     map[policy.BuiltIn]int
	// manifests are those that the folder has, sets the StatefulSets among what was imported, kept those that stay one.
	manifests, sets, kept int
	lines                 map[string][]string // by what they are about
}

func (c *tally) add(key, text string) { c.lines[key] = append(c.lines[key], text) }

// imported counts a result. A difference that nothing explains is an error.
func (c *tally) imported(t *testing.T, result importer.Result) {
	t.Helper()
	c.appServices++
	if is := func(o *unstructured.Unstructured) bool { return o.GetKind() == "StatefulSet" }; slices.ContainsFunc(result.Given, is) {
		c.sets++
		if slices.ContainsFunc(result.Rendered, is) {
			c.kept++
		}
	}
	for _, note := range result.Notes {
		if note.Unexplained {
			t.Error(note)
		}
	}
}

// The manifests are the work of others, and not in the repository: SOURCES.yaml says where each is. CORPUS names a folder that has them.
func TestPublicManifestsPassTheBuiltInPolicies(t *testing.T) {
	sources := read(t)
	folder := os.Getenv("CORPUS")
	require.NotEmpty(t, folder, "CORPUS has to name a folder with the files of SOURCES.yaml, as OWNER-NAME/PATH")

	charts, err := preview.LoadCharts(appservice.Files)
	require.NoError(t, err)
	definitions, capabilities := map[string]*crd.Definition{}, map[string]*chartutil.Capabilities{}
	for _, kind := range []string{v1.Kind, read.JobKind} {
		text, err := config.Files.ReadFile("crd/bases/app.example.com_" + strings.ToLower(kind) + "s.yaml")
		require.NoError(t, err)
		definitions[kind], err = crd.Read(text)
		require.NoError(t, err)
		capabilities[kind] = render.Serving(charts.Renderers[v1.GroupVersion.WithKind(kind)].Chart)
	}
	admit := func(app *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		app = app.DeepCopy()
		app.SetNamespace(cmp.Or(app.GetNamespace(), "default"))
		app.SetUID(render.PlaceholderUID)
		admitted := definitions[app.GetKind()].Admit(context.Background(), app)
		if len(admitted.Unknown) > 0 {
			return nil, fmt.Errorf("unknown fields %v", admitted.Unknown)
		}
		return admitted.Resource, admitted.Errors.ToAggregate()
	}
	i := &importer.Importer{
		Renderer: translate.Renderer{
			Render: func(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
				result, err := charts.Renderers[app.GroupVersionKind()].Render(ctx, app, capabilities[app.GetKind()])
				if err != nil {
					return nil, err
				}
				return result.Objects, nil
			},
			Check: func(app *unstructured.Unstructured) error { _, err := admit(app); return err },
		},
	}

	policies := map[policy.BuiltIn]*policy.Policy{}
	for _, ground := range grounds {
		policies[ground.name], err = policy.Read("policy.yaml", []byte("builtIn: "+string(ground.name)))
		require.NoError(t, err)
	}
	count := &tally{refused: map[policy.BuiltIn]int{}, lines: map[string][]string{}}
	t.Run("manifests", func(t *testing.T) {
		for _, from := range sources {
			t.Run(from.name(), func(t *testing.T) {
				t.Parallel()
				objects, err := read.FromManifest(from.text(t, folder), "")
				made := &importer.Import{}
				if err == nil {
					if all, failed := i.Objects(t.Context(), objects, ""); failed == nil {
						made = all
					} else {
						err = failed
					}
				}
				if err != nil && !named.MatchString(err.Error()) {
					t.Errorf("the error does not name what is wrong: %v", err)
				}
				count.Lock()
				defer count.Unlock()
				count.manifests++
				if err != nil {
					count.add("import", from.name()+": "+err.Error())
				}
				for _, failure := range made.Failed {
					count.add("import", from.name()+": "+failure.Object+": "+failure.Err.Error())
				}
				for _, result := range made.Results {
					count.imported(t, result)
					app, err := admit(result.Resource)
					if err != nil {
						t.Errorf("%s: %v", result.Resource.GetName(), err)
						continue
					}
					for _, ground := range grounds {
						cluster := &preview.Cluster{Capabilities: capabilities[app.GetKind()], Policy: policies[ground.name]}
						_, err := cluster.Render(t.Context(), charts.Renderers[app.GroupVersionKind()], app, nil)
						if refused, found := errors.AsType[*policy.Error](err); found {
							count.refused[ground.name]++
							for _, violation := range refused.Violations {
								count.add(string(ground.name)+" "+violation.Rule, from.name()+": "+violation.String())
							}
						} else if err != nil {
							t.Errorf("%s: %v", result.Resource.GetName(), err)
						}
					}
				}
			})
		}
	})

	for _, key := range slices.Sorted(maps.Keys(count.lines)) {
		slices.Sort(count.lines[key])
		t.Logf("%s: %d\n\t%s", key, len(count.lines[key]), strings.Join(count.lines[key], "\n\t"))
	}
	share := map[policy.BuiltIn]float64{}
	for _, ground := range grounds {
		share[ground.name] = 100 * float64(count.refused[ground.name]) / float64(max(1, count.appServices))
		if share[ground.name] > ground.most {
			t.Errorf("the %v refuses %.1f %% of the AppServices, more than %v %%", ground.name, share[ground.name], ground.most)
		}
	}
	require.NotZero(t, count.manifests, "no file of SOURCES.yaml is in CORPUS=%s", folder)
	if missing := len(sources) - count.manifests; missing > 0 {
		t.Logf("%d of %d sources are not in CORPUS=%s, and were skipped", missing, len(sources), folder)
	}
	t.Logf("IMPORT manifests=%d imported=%d not_imported=%d statefulsets=%d kept=%d", count.manifests, count.appServices,
		len(count.lines["import"]), count.sets, count.kept)
	t.Logf("POLICY manifests=%d appservices=%d open_refused=%d shared_refused=%.1f%%", count.manifests, count.appServices,
		count.refused[policy.Open], share[policy.Shared])
}
