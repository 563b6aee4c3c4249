package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
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

// own brings up a node of its own and deploys the operator there. The function that it returns ends it.
func own(ctx context.Context, root string) (p *place, end func(), err error) {
	options := node.Options{Name: cmp.Or(os.Getenv("NODE_NAME"), defaultNode), Progress: os.Stderr}
	end = func() { _ = node.Down(context.WithoutCancel(ctx), options) }
	if err := node.Down(ctx, options); err != nil {
		return nil, end, err
	}
	n, err := node.Up(ctx, options)
	if err != nil {
		return nil, end, err
	}
	p = &place{root: root, kubeconfig: n.Kubeconfig, kubectl: n.Kubectl}
	p.load = func(ctx context.Context, archive string) error { return n.Load(ctx, archive) }
	if err := p.bring(ctx, "-tag", managerTag, "manager"); err != nil {
		return p, end, err
	}
	if err := p.command(ctx, "make", "deploy", "IMG="+managerTag); err != nil {
		return p, end, err
	}
	return p, end, p.command(ctx, "kubectl", "rollout", "status", "--namespace=appservice-operator-system", "--timeout=3m",
		"deployment/appservice-operator-controller-manager")
}

// current is the cluster that KUBECONFIG names.
func current(ctx context.Context, root string) (*place, error) {
	programs, err := toolchain.Ensure(ctx, os.Stderr, "kubectl")
	if err != nil {
		return nil, err
	}
	p := &place{root: root, kubeconfig: os.Getenv("KUBECONFIG"), kubectl: programs["kubectl"]}
	if load := strings.Fields(os.Getenv("LOAD")); len(load) > 0 {
		p.load = func(ctx context.Context, archive string) error {
			return p.command(ctx, append(load[:len(load):len(load)], archive)...)
		}
	}
	return p, nil
}

// bringImages builds all images that the tests and their example need and brings them into the cluster.
func (p *place) bringImages(ctx context.Context, tests []test) error {
	programs, err := toolchain.Ensure(ctx, os.Stderr, builtIn)
	if err != nil {
		return err
	}
	example, err := p.exampleImage()
	if err != nil {
		return err
	}
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
		if err := p.bring(ctx, args...); err != nil {
			return err
		}
	}
	return nil
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
func (p *place) bring(ctx context.Context, image ...string) error {
	folder, err := os.MkdirTemp("", "scorecard-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	archive := filepath.Join(folder, "image.tar")
	fmt.Fprintf(os.Stderr, "building image %s ...\n", image[len(image)-1])
	if err := node.BuildImage(ctx, append([]string{"-out", archive}, image...)...); err != nil {
		return err
	}
	return p.load(ctx, archive)
}

// command runs a command in the repository, on the cluster. What it prints is shown if it fails.
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
