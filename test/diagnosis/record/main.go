// Command record has a cluster get into each trouble that package diagnose knows, and keeps what the API server then shows:
// test/testdata/diagnosis/NAME.yaml, for tests. What to record is in scenarios.yaml.
//
//	go run ./test/diagnosis/record [-only REGEXP] [-out FOLDER]
//
// It uses the cluster of KUBECONFIG, which needs a real node with the image example.com/subject:1 (test/diagnosis/subject).
// Namespaces are named like the scenarios, and deleted afterwards.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/try"
)

//go:embed scenarios.yaml
var scenarios []byte

// scenario is one trouble. See scenarios.yaml.
type scenario struct {
	Objects   []unstructured.Unstructured `json:"objects"`
	Pod       map[string]any              `json:"pod"`
	Spec      map[string]any              `json:"spec"`
	Then      map[string]any              `json:"then"`
	Namespace map[string]string           `json:"namespace"`
	Settle    int                         `json:"settle"`
	Metrics   bool                        `json:"metrics"`
	Round     int                         `json:"round"`
	Wait      wait                        `json:"wait"`
}

// recording is what is kept of a scenario.
type recording struct {
	// Time at which the objects were read.
	Time       time.Time                   `json:"time"`
	Kubernetes string                      `json:"kubernetes"`
	Objects    []unstructured.Unstructured `json:"objects"`
}

func main() {
	only := flag.String("only", "", "record the scenarios whose names match")
	out := flag.String("out", "test/testdata/diagnosis", "folder of the recordings")
	at := flag.Int("parallel", 6, "how many scenarios run at a time")
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := try.Catch(func() { run(ctx, *only, *out, *at) })
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, out string, parallel int) {
	wanted := try.Get(regexp.Compile(only))
	all := map[string]scenario{}
	if err := yaml.UnmarshalStrict(scenarios, &all); err != nil {
		try.Fail("cannot read the scenarios: %w", err)
	}
	stage := newStage()
	defer stage.clear(context.WithoutCancel(ctx))
	stage.registry(ctx)
	failed := 0
	for round := range 3 {
		var group sync.WaitGroup
		var mu sync.Mutex
		places := make(chan struct{}, parallel)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if all[name].Round != round || !wanted.MatchString(name) {
				continue
			}
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				err := try.Catch(func() { stage.record(ctx, name, all[name], out) })
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed++
					fmt.Printf("%-40s FAILED: %v\n", name, err)
					return
				}
				fmt.Printf("%-40s recorded\n", name)
			})
		}
		group.Wait()
	}
	if failed > 0 {
		try.Fail("%d scenarios could not be recorded", failed)
	}
}

// newStage connects to the cluster.
func newStage() *stage {
	cfg := try.Get(config.GetConfig())
	cfg.QPS = -1
	c := try.Get(client.New(cfg, client.Options{}))
	asked := try.Get(discovery.NewDiscoveryClientForConfig(cfg))
	version, err := asked.ServerVersion()
	if err != nil {
		try.Fail("cannot reach the cluster: %w", err)
	}
	return &stage{Client: c, version: version.GitVersion}
}

// record plays one scenario and writes its outcome.
func (s *stage) record(ctx context.Context, name string, scenario scenario, out string) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	kept := recording{Kubernetes: s.version}
	refused := s.play(ctx, name, scenario)
	if refused != nil {
		kept.Time, kept.Objects = time.Now().UTC(), []unstructured.Unstructured{*refused}
	} else {
		kept.Objects, kept.Time = try.Get2(s.await(ctx, name, scenario.Wait))
	}
	text := try.Get(yaml.Marshal(kept))
	header := "# Recorded by make record-diagnosis; see test/diagnosis/record/scenarios.yaml.\n"
	try.Do(os.WriteFile(filepath.Join(out, name+".yaml"), append([]byte(header), text...), 0o644))
}

// deployment is that of a scenario.
func deployment(namespace string, scenario scenario) *unstructured.Unstructured {
	labels := map[string]any{"app": "web"}
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := scenario.Pod[list].([]any)
		for _, container := range containers {
			complete(container.(map[string]any))
		}
	}
	spec := map[string]any{
		"replicas": int64(1),
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": scenario.Pod},
	}
	maps.Copy(spec, scenario.Spec)
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	object.SetNamespace(namespace)
	object.SetName("web")
	return object
}

// subject is the image of test/diagnosis/subject.
const subject = "example.com/subject:1"

// complete adds to a container what the chart adds to each.
func complete(container map[string]any) {
	if container["image"] == nil {
		container["image"] = subject
	}
	container["terminationMessagePolicy"] = "FallbackToLogsOnError"
}
