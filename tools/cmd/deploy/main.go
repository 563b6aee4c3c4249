// Command deploy installs the operator from config/ in the current cluster, and removes it. The targets of the
// Makefile call it, as in
//
//	go run ./tools/cmd/deploy -image example.com/appservice-operator:v0.2.0 deploy
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/toolchain"
)

// namespace is that of the operator. It cannot be chosen: undeploy deletes it.
const namespace = "appservice-operator-system"

// options are the flags.
type options struct {
	image       string
	charts      string // where the manager has its charts from: configmap, image, or nothing for those in its own image
	chartsImage string
	helmCharts  string
	components  string
	namespaces  string
	kubectl     string
}

func main() {
	var o options
	flag.StringVar(&o.image, "image", "", "the manager's image")
	flag.StringVar(&o.charts, "charts", "", "where it has its charts from: configmap, image, or its own image if this is empty")
	flag.StringVar(&o.chartsImage, "charts-image", "", "that image")
	flag.StringVar(&o.helmCharts, "helm-charts", "helm-charts", "the folder of the charts for a ConfigMap")
	flag.StringVar(&o.components, "components", "", "components of config/ that are added")
	flag.StringVar(&o.namespaces, "namespaces", "", "the namespaces that it serves, or nothing for all of them")
	flag.StringVar(&o.kubectl, "kubectl", "kubectl", "the command kubectl")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, flag.Args())
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, args []string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	d := &deployment{options: o, ctx: ctx, root: root}
	commands := map[string]func() error{
		"install": d.install, "uninstall": d.uninstall, "deploy": d.deploy, "undeploy": d.undeploy, "charts": d.updateCharts, "bundle": d.bundle,
	}
	writers := map[string]func(string) error{"installer": d.installer, "package": d.packageCharts}
	switch {
	case len(args) == 1 && commands[args[0]] != nil:
		return commands[args[0]]()
	case len(args) == 2 && writers[args[0]] != nil:
		return writers[args[0]](args[1])
	}
	return fmt.Errorf("cannot do %q: it is install, uninstall, deploy, undeploy, charts, bundle, installer FILE or package FOLDER", args)
}

// deployment is the operator as the options say.
type deployment struct {
	options
	ctx  context.Context
	root string
}

// command prepares a program that runs in the repository and prints what it prints.
func (d *deployment) command(name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(d.ctx, name, args...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Dir, command.Stdin, command.Stdout, command.Stderr = d.root, os.Stdin, os.Stdout, os.Stderr
	return command
}

// pinned prepares a program of tools/pins.
func (d *deployment) pinned(name string, args ...string) *exec.Cmd {
	tool := append(toolchain.Pinned(d.root, name), args...)
	return d.command(tool[0], tool[1:]...)
}

// cluster prepares kubectl. A shell reads its name, which may have arguments.
func (d *deployment) cluster(args ...string) *exec.Cmd {
	return d.command("sh", append([]string{"-c", d.kubectl + ` "$@"`, "sh"}, args...)...)
}

// output runs a command and returns what it prints.
func output(command *exec.Cmd) (string, error) {
	command.Stdout = nil
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	return string(text), nil
}

// apply applies manifests.
func (d *deployment) apply(manifests string) error {
	command := d.cluster("apply", "-f", "-")
	command.Stdin = strings.NewReader(manifests)
	return command.Run()
}

// crds are the names of our CRDs, from the names of their files: app.example.com_appservices.yaml.
func (d *deployment) crds() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(d.root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no CRDs in config/crd/bases: %w", errors.Join(err, os.ErrNotExist))
	}
	for i, file := range files {
		group, plural, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
		files[i] = plural + "." + group
	}
	return files, nil
}

// resources are our CRDs in the cluster, and the names of their resources in a namespace or, as
// --all-namespaces, everywhere.
func (d *deployment) resources(where string) (there, names []string, err error) {
	crds, err := d.crds()
	if err != nil {
		return nil, nil, err
	}
	list, err := output(d.cluster(append(append([]string{"get", "crd"}, crds...), "--ignore-not-found",
		"--output=name")...))
	if err != nil {
		return nil, nil, err
	}
	for _, crd := range strings.Fields(list) {
		_, kind, _ := strings.Cut(crd, "/")
		found, err := output(d.cluster("get", kind, where, "--output=name"))
		if err != nil {
			return nil, nil, err
		}
		there, names = append(there, kind), append(names, strings.Fields(found)...)
	}
	return there, names, nil
}

// install installs the CRDs and waits until the API server serves them.
func (d *deployment) install() error {
	manifests, err := output(d.pinned("kustomize", "build", "config/crd"))
	if err != nil {
		return err
	}
	if err := d.apply(manifests); err != nil {
		return err
	}
	crds, err := d.crds()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		plural, _, _ := strings.Cut(crd, ".")
		for _, condition := range []string{"jsonpath={.status.acceptedNames.plural}=" + plural, "condition=Established"} {
			if err := d.cluster("wait", "--for="+condition, "--timeout=60s", "crd/"+crd).Run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// uninstall deletes the CRDs, and says first what goes with them.
func (d *deployment) uninstall() error {
	there, names, err := d.resources("--all-namespaces")
	if err != nil {
		return err
	}
	fmt.Printf("Resources of this operator in this cluster: %d. All of them, and all their applications, go with the CRDs.\n", len(names))
	if len(names) > 0 {
		for _, kind := range there {
			if err := d.cluster("get", kind, "--all-namespaces").Run(); err != nil {
				return err
			}
		}
	}
	crds, err := d.crds()
	if err != nil {
		return err
	}
	return d.cluster(append(append([]string{"delete", "crd"}, crds...), "--ignore-not-found")...).Run()
}

// deploy installs admission policies and manager.
func (d *deployment) deploy() error {
	return d.overlay([]string{"default", "admission"}, "legacy", func(manifests string) error {
		return d.cluster("apply", "-f", manifests).Run()
	})
}

// undeploy removes what deploy has installed. The manager goes first, so that it never runs with half of its rights,
// and the namespace last: if resources live in it, it stays. The label is one that of all these objects only the
// namespace has.
func (d *deployment) undeploy() error {
	return d.overlay([]string{"default", "admission"}, "legacy", func(manifests string) error {
		_, names, err := d.resources("--namespace=" + namespace)
		if err != nil {
			return err
		}
		if err := d.cluster("delete", "deployment", "appservice-operator-controller-manager", "--namespace="+namespace,
			"--ignore-not-found", "--cascade=foreground").Run(); err != nil {
			return err
		}
		if err := d.cluster("delete", "-f", manifests, "--ignore-not-found", "-l",
			"!pod-security.kubernetes.io/enforce").Run(); err != nil {
			return err
		}
		if len(names) > 0 {
			fmt.Printf("Namespace %s stays: resources of this operator that live in it: %d.\n", namespace, len(names))
		} else if err := d.cluster("delete", "namespace", namespace, "--ignore-not-found").Run(); err != nil {
			return err
		}
		fmt.Println("The manager is gone. The CRDs stay, and with them every resource and its application.")
		return nil
	})
}

// updateCharts puts the charts into the ConfigMap that a manager with charts of a ConfigMap serves.
func (d *deployment) updateCharts() error {
	return d.inFolder("charts", func(dir string) error {
		if err := d.packageCharts(dir); err != nil {
			return err
		}
		manifest, err := output(d.cluster("create", "configmap", "appservice-operator-charts", "--namespace="+namespace,
			"--from-file="+dir,
			"--dry-run=client", "--output=yaml"))
		if err != nil {
			return err
		}
		return d.apply(manifest)
	})
}
