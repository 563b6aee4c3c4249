package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

var (
	// variants of the CRD: with all rules, with none, with those of the root and of spec only, and with the others only;
	// and a Deployment.
	variants = []string{"all", "none", "top", "beneath", "Deployment"}
	objects  = []string{"small", "full"}
	writes   = []string{"create", "patch of the image", "PUT of the image", "status patch", "status PUT"}
)

// namespace of all objects.
const namespace = "default"

type bench struct {
	client   client.Client
	config   *rest.Config
	requests int
	root     string
	server   procfs.Proc
}

// apiServer returns the process of the API server of a cluster in a folder.
func apiServer(ctx context.Context, folder string) (procfs.Proc, error) {
	running, err := processes.Of(ctx, folder)
	if err != nil || len(running["kube-apiserver"]) != 1 {
		return procfs.Proc{}, errors.Join(err, fmt.Errorf("there are %d API servers of %s", len(running["kube-apiserver"]), folder))
	}
	return procfs.NewProc(running["kube-apiserver"][0])
}

func groupOf(variant string) string { return variant + ".crd.example.com" }

// prepare installs a CRD for each variant.
func (b *bench) prepare(ctx context.Context) {
	text := try.Get(os.ReadFile(filepath.Join(b.root, "config/crd/bases/app.example.com_appservices.yaml")))
	for _, variant := range variants {
		if variant == "Deployment" {
			continue
		}
		crd := try.Get(files.Decode(text))[0]
		try.Do(unstructured.SetNestedField(crd.Object, groupOf(variant), "spec", "group"))
		crd.SetName("appservices." + groupOf(variant))
		unstructured.RemoveNestedField(crd.Object, "spec", "names", "shortNames")
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		try.Do(err)
		for _, version := range versions {
			rules(version.(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"], variant, 0)
		}
		try.Do(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
		try.Do(b.client.Create(ctx, crd))
	}
	for _, variant := range variants {
		for _, object := range objects {
			if o := b.object(variant, object, "warm"); o != nil {
				try.Do(poll.PacedWithin(ctx, time.Minute, poll.Every(100*time.Millisecond), func(ctx context.Context) error {
					return b.client.Create(ctx, o.DeepCopy())
				}))
				try.Do(b.client.Delete(ctx, o))
			}
		}
	}
}

// rules removes the rules of a schema that a variant does not have. The root and spec are at most two properties deep.
func rules(node any, variant string, depth int) {
	content, is := node.(map[string]any)
	if !is {
		return
	}
	top := depth < 2
	if variant == "none" || variant == "top" && !top || variant == "beneath" && top {
		delete(content, "x-kubernetes-validations")
	}
	if properties, is := content["properties"].(map[string]any); is {
		for name, property := range properties {
			below := depth + 1
			if depth == 0 && name != "spec" {
				below = 2 // status has no rules at its top that run for spec
			}
			rules(property, variant, below)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		rules(content[key], variant, 2)
	}
}

// object returns an object of a variant; nil if the variant has none of that size.
func (b *bench) object(variant, size, name string) *unstructured.Unstructured {
	if variant == "Deployment" {
		if size != "small" {
			return nil
		}
		o := try.Get(files.Decode([]byte(deployment)))[0]
		o.SetNamespace(namespace)
		o.SetName(name)
		return o
	}
	version := schema.GroupVersion{Group: groupOf(variant), Version: "v1"}
	if size == "small" {
		return load.AppService(version, namespace, name, 0)
	}
	o := try.Get(files.Decode(try.Get(os.ReadFile(filepath.Join(b.root, "config/samples/full.yaml")))))[0]
	o.SetAPIVersion(version.String())
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: registry.example.com/team/web:1.0.0
        ports: [{name: http, containerPort: 8080}]
`

// round measures all writes, the variants in turn so that a change of the machine's load meets all of them.
func (b *bench) round(ctx context.Context, number int) map[string]map[string]cost {
	found := map[string]map[string]cost{}
	idle := b.idle(ctx)
	for _, size := range objects {
		for _, write := range writes {
			key := size + "/" + write
			found[key] = map[string]cost{}
			for n := range variants {
				variant := variants[(n+number)%len(variants)]
				if b.object(variant, size, "x") == nil {
					continue
				}
				found[key][variant] = b.measure(ctx, idle, size, variant, write)
			}
		}
	}
	return found
}

// idle returns the share of a core that the API server uses without requests.
func (b *bench) idle(ctx context.Context) float64 {
	const rest = 3 * time.Second
	before := b.cpu()
	select {
	case <-ctx.Done():
		try.Do(context.Cause(ctx))
	case <-time.After(rest):
	}
	return (b.cpu() - before) / rest.Seconds()
}

// cpu is the CPU time of the API server so far, in seconds.
func (b *bench) cpu() float64 { return try.Get(b.server.Stat()).CPUTime() }

// allocated are the bytes that the API server has allocated so far.
func (b *bench) allocated(ctx context.Context) float64 {
	body := try.Get(try.Get(kubernetes.NewForConfig(b.config)).RESTClient().Get().AbsPath("/metrics").DoRaw(ctx))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := try.Get(parser.TextToMetricFamilies(strings.NewReader(string(body))))
	return families["go_memstats_alloc_bytes_total"].GetMetric()[0].GetCounter().GetValue()
}

// measure writes as often as requested, and returns the cost of one request.
func (b *bench) measure(ctx context.Context, idle float64, size, variant, write string) cost {
	o := b.object(variant, size, "written")
	do := b.writer(ctx, o, variant, write)
	for n := range 10 { // warm
		do(n - 10)
	}
	bytes, cpu, begun := b.allocated(ctx), b.cpu(), time.Now()
	for n := range b.requests {
		do(n)
	}
	used, took := b.cpu()-cpu, time.Since(begun).Seconds()
	per := float64(b.requests)
	result := cost{(used - idle*took) * 1000 / per, (b.allocated(ctx) - bytes) / 1024 / per}
	try.Do(b.client.DeleteAllOf(ctx, o, client.InNamespace(namespace), client.MatchingLabels{made: "yes"}))
	return result
}

// made is a label of all objects that are written.
const made = "bench"

// writer returns what does one write; its argument is another one each time.
func (b *bench) writer(ctx context.Context, o *unstructured.Unstructured, variant, write string) func(int) {
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[made] = "yes"
	o.SetLabels(labels)
	if write == "create" {
		return func(n int) {
			another := o.DeepCopy()
			another.SetName(fmt.Sprintf("created-%d", n+100))
			try.Do(b.client.Create(ctx, another))
		}
	}
	try.Do(b.client.Create(ctx, o))
	image := func(n int) string { return fmt.Sprintf("registry.example.com/team/web:2.0.%d", n+100) }
	status := statusOf(variant)
	if strings.HasPrefix(write, "status") {
		o.Object["status"] = status(0)
		try.Do(b.client.Status().Update(ctx, o))
	}
	switch write {
	case "patch of the image":
		return func(n int) {
			patch := fmt.Sprintf(`{"spec":{"image":%q}}`, image(n))
			kind := types.MergePatchType
			if variant == "Deployment" {
				patch = fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"app","image":%q}]}}}}`, image(n))
				kind = types.StrategicMergePatchType
			}
			try.Do(b.client.Patch(ctx, o, client.RawPatch(kind, []byte(patch))))
		}
	case "PUT of the image":
		return func(n int) {
			if variant == "Deployment" {
				containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
				containers[0].(map[string]any)["image"] = image(n)
				try.Do(unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers"))
			} else {
				try.Do(unstructured.SetNestedField(o.Object, image(n), "spec", "image"))
			}
			try.Do(b.client.Update(ctx, o))
		}
	case "status patch":
		return func(n int) {
			patch := try.Get(yaml.Marshal(map[string]any{"status": status(n + 1000)}))
			try.Do(b.client.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, try.Get(yaml.YAMLToJSON(patch)))))
		}
	default:
		return func(n int) {
			o.Object["status"] = status(n + 1000)
			try.Do(b.client.Status().Update(ctx, o))
		}
	}
}

// statusOf returns a status that differs each time.
func statusOf(variant string) func(int) map[string]any {
	return func(n int) map[string]any {
		if variant == "Deployment" {
			return map[string]any{"observedGeneration": int64(1), "collisionCount": int64(n + 1), "conditions": []any{
				map[string]any{
					"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
					"message": fmt.Sprintf("Deployment has minimum availability, seen %d times.", n),
				},
			}}
		}
		var conditions []any
		for _, name := range []string{"Ready", "Deployed", "Progressing", "Degraded", "Stalled", "Reconciling"} {
			conditions = append(conditions, map[string]any{
				"type": name, "status": "True", "reason": "Running", "observedGeneration": int64(1), "lastTransitionTime": "2026-01-01T00:00:00Z",
				"message": fmt.Sprintf("no pods are needed, seen %d times", n),
			})
		}
		return map[string]any{
			"observedGeneration": int64(1), "phase": "Running", "readiness": "0/0", "replicas": int64(0), "selector": "app.kubernetes.io/instance=written",
			"image": "registry.example.com/team/web:1.0.0", "url": "http://written.example.com", "conditions": conditions,
			"release": map[string]any{"revision": int64(n + 2000)},
		}
	}
}
