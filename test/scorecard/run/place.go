package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/node"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	defaultNode = "appservice-scorecard"
	managerTag  = "example.com/appservice-operator:scorecard"
	// untarTag is the image that unpacks the bundle for each test, where images are built from files.
	untarTag = "example.com/scorecard-untar:e2e"
)

// place is a cluster with real pods.
type place struct {
	root       string
	kubeconfig string
	kubectl    string
	load       func(ctx context.Context, archive string) error // not set where images come from a registry
}

// own brings up a node of its own and deploys the operator there.
func own(ctx context.Context, root string, options node.Options) *place {
	try.Do(node.Down(ctx, options))
	n := try.Get(node.Up(ctx, options))
	p := &place{root: root, kubeconfig: n.Kubeconfig, kubectl: n.Kubectl}
	p.load = func(ctx context.Context, archive string) error { return n.Load(ctx, archive) }
	p.bring(ctx, "-tag", managerTag, "manager")
	try.Do(p.command(ctx, "make", "deploy", "IMG="+managerTag))
	try.Do(p.command(ctx, "kubectl", "rollout", "status", "--namespace=appservice-operator-system", "--timeout=3m",
		"deployment/appservice-operator-controller-manager"))
	return p
}

// current is the cluster that KUBECONFIG names.
func current(ctx context.Context, root string) *place {
	programs := try.Get(toolchain.Ensure(ctx, os.Stderr, "kubectl"))
	p := &place{root: root, kubeconfig: os.Getenv("KUBECONFIG"), kubectl: programs["kubectl"]}
	if load := strings.Fields(os.Getenv("LOAD")); len(load) > 0 {
		p.load = func(ctx context.Context, archive string) error {
			return p.command(ctx, append(load[:len(load):len(load)], archive)...)
		}
	}
	return p
}

// bringImages builds all images that the tests and their example need and brings them into the cluster.
func (p *place) bringImages(ctx context.Context, tests []test) {
	programs := try.Get(toolchain.Ensure(ctx, os.Stderr, builtIn))
	example := try.Get(p.exampleImage())
	tags := map[string]string{} // by the program that a test runs
	for _, test := range tests {
		tags[test.Entrypoint[0]] = test.Image
	}
	for _, args := range [][]string{
		{"-tag", tags[builtIn], "-file", programs[builtIn], "program"},
		{"-tag", tags["/scorecard"], "scorecard"},
		{"-tag", untarTag, "busybox"},
		{"-tag", example, "nginx"},
	} {
		p.bring(ctx, args...)
	}
}

// exampleImage is the full name of the image of the sample that the bundle offers first, one of Docker Hub's own.
func (p *place) exampleImage() (string, error) {
	text, err := os.ReadFile(filepath.Join(p.root, "config/samples/app_v1_appservice.yaml"))
	if err != nil {
		return "", err
	}
	sample := &v1.AppService{}
	if err := yaml.UnmarshalStrict(text, sample); err != nil {
		return "", fmt.Errorf("cannot parse the first sample: %w", err)
	}
	return "docker.io/library/" + sample.Spec.Image, nil
}

// bring builds an image and brings it into the cluster.
func (p *place) bring(ctx context.Context, image ...string) {
	folder := try.Get(os.MkdirTemp("", "scorecard-image-"))
	defer os.RemoveAll(folder)
	archive := filepath.Join(folder, "image.tar")
	fmt.Fprintf(os.Stderr, "building image %s ...\n", image[len(image)-1])
	try.Do(node.BuildImage(ctx, append([]string{"-out", archive}, image...)...))
	try.Do(p.load(ctx, archive))
}

// command runs a command in the repository, on the cluster. Its output is shown if it fails.
func (p *place) command(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir = p.root
	command.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig,
		"PATH="+filepath.Dir(p.kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}
