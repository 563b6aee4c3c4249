package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/toolchain"
)

// kroVersion is the AppService of kro, which makes its CRD of a graph.
var kroVersion = schema.GroupVersion{Group: "kro.example.com", Version: "v1"}

//go:embed kro-graph.yaml
var kroGraph []byte

// kro makes the same objects of a graph: without history, defaults and status of our own.
func (b *bench) kro() *contender {
	var program string
	return &contender{
		letter: "f", title: "kro v0.9.4", version: kroVersion, account: account{namespace: system, name: "kro", admin: true},
		build: func(ctx context.Context) error {
			programs, err := toolchain.Ensure(ctx, b.out, "kro")
			program = programs["kro"]
			return err
		},
		command: func(metrics string) (string, []string, error) {
			return program, []string{
				"--metrics-bind-address=" + metrics, "--health-probe-bind-address=127.0.0.1:0", "--zap-devel=false", "--zap-log-level=error",
				"--dynamic-controller-concurrent-reconciles=16", "--client-qps=-1", "--client-burst=100000",
				"--dynamic-controller-rate-limiter-rate-limit=100000", "--dynamic-controller-rate-limiter-burst-limit=100000",
			}, nil
		},
		install: b.installGraph,
	}
}

// installGraph installs the CRDs of kro and the graph, and returns when kro serves its kind.
func (b *bench) installGraph(ctx context.Context) {
	list := exec.CommandContext(ctx, "go", "list", "-modfile=tools/pins/kro/go.mod", "-m", "-f", "{{.Dir}}", "github.com/kubernetes-sigs/kro")
	list.Dir, list.Stderr = b.root, os.Stderr
	crds := try.Get(filepath.Glob(filepath.Join(strings.TrimSpace(string(try.Get(list.Output()))), "helm/crds/*.yaml")))
	if len(crds) == 0 {
		try.Fail("kro has no CRDs")
	}
	for _, file := range crds {
		for _, crd := range try.Get(files.Decode(try.Get(os.ReadFile(file)))) {
			try.Do(client.IgnoreAlreadyExists(b.api.client.Create(ctx, crd)))
		}
	}
	graph := try.Get(files.Decode(kroGraph))[0]
	try.Do(poll.PacedWithin(ctx, time.Minute, poll.Every(200*time.Millisecond), func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(b.api.client.Create(ctx, graph.DeepCopy()))
	}))
	try.Do(poll.PacedWithin(ctx, 2*time.Minute, poll.Every(200*time.Millisecond), func(ctx context.Context) error {
		if err := b.api.client.Get(ctx, client.ObjectKeyFromObject(graph), graph); err != nil {
			return err
		}
		if state, _, _ := unstructured.NestedString(graph.Object, "status", "state"); state != "Active" {
			return fmt.Errorf("the graph is %q: %v", state, graph.Object["status"])
		}
		served := &unstructured.UnstructuredList{}
		served.SetGroupVersionKind(kroVersion.WithKind("AppServiceList"))
		return b.api.client.List(ctx, served)
	}))
}
