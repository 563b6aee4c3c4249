package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// overlay builds folders of config/ as the options say, and hands over the file with all objects. Its folder is
// ignored by git and deleted at the end, so the tree stays as it is.
func (d *deployment) overlay(folders []string, order string, use func(file string) error) error {
	return d.inFolder("overlay", func(dir string) error {
		for _, served := range strings.Fields(d.namespaces) {
			text := fmt.Sprintf("namespace: %s\nresources: [../../../config/namespaced/rights]\n", served)
			if err := os.Mkdir(filepath.Join(dir, served), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, served, "kustomization.yaml"), []byte(text), 0o644); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(d.kustomization(folders, order)),
			0o644); err != nil {
			return err
		}
		if err := d.edit(dir); err != nil {
			return err
		}
		manifests, err := output(d.pinned("kustomize", "build", dir))
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "all.yaml")
		if err := os.WriteFile(file, []byte(manifests), 0o644); err != nil {
			return err
		}
		return use(file)
	})
}

// kustomization is that of a folder two levels below the repository.
func (d *deployment) kustomization(folders []string, order string) string {
	served := strings.Fields(d.namespaces)
	var text strings.Builder
	text.WriteString("resources:\n")
	for _, folder := range folders {
		fmt.Fprintf(&text, "- ../../config/%s\n", folder)
	}
	for _, name := range served {
		fmt.Fprintf(&text, "- %s\n", name)
	}
	components := strings.Fields(d.components)
	if d.charts != "" {
		components = append([]string{"chart-" + d.charts}, components...)
	}
	if len(served) > 0 {
		components = append(components, "namespaced")
	}
	text.WriteString("components:\n")
	for _, name := range components {
		fmt.Fprintf(&text, "- ../../config/%s\n", name)
	}
	if len(served) > 0 {
		fmt.Fprintf(&text, "patches:\n- target: {kind: Deployment, name: controller-manager}\n"+
			"  patch: \"- {op: replace, path: /spec/template/spec/containers/0/env/0/value, value: \\\"%s\\\"}\"\n", strings.Join(served, ","))
	}
	fmt.Fprintf(&text, "sortOptions: {order: %s}\n", order)
	return text.String()
}

// edit adds images and charts to the kustomization of a folder.
func (d *deployment) edit(dir string) error {
	images := []string{"edit", "set", "image", "controller=" + d.image}
	switch d.charts {
	case "configmap":
		if err := d.packageCharts(filepath.Join(dir, "charts")); err != nil {
			return err
		}
		add := d.pinned("kustomize", "edit", "add", "configmap", "appservice-operator-charts", "--namespace="+namespace,
			"--disableNameSuffixHash", "--from-file=charts/*.tgz")
		add.Dir = dir
		if err := add.Run(); err != nil {
			return err
		}
	case "image":
		images = append(images, "charts="+d.chartsImage)
	}
	set := d.pinned("kustomize", images...)
	set.Dir = dir
	return set.Run()
}

// inFolder has a folder in bin, which is deleted afterwards.
func (d *deployment) inFolder(name string, use func(dir string) error) error {
	if err := os.MkdirAll(filepath.Join(d.root, "bin"), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Join(d.root, "bin"), name+".")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return use(dir)
}

// packageCharts packages the charts into a folder. Each has the name of its own folder there, which watches.yaml
// knows it by.
func (d *deployment) packageCharts(into string) error {
	charts, err := filepath.Glob(filepath.Join(d.helmCharts, "*"))
	if err != nil || len(charts) == 0 {
		return fmt.Errorf("there are no charts in %s", d.helmCharts)
	}
	for _, chart := range charts {
		if err := d.packageChart(chart, into); err != nil {
			return err
		}
	}
	return nil
}

func (d *deployment) packageChart(chart, into string) error {
	chart, err := filepath.Abs(chart)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(into, "partial.")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(partial) }()
	if partial, err = filepath.Abs(partial); err != nil {
		return err
	}
	if _, err := output(d.pinned("helm", "package", chart, "--destination", partial)); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(partial, "*.tgz"))
	if err != nil || len(packages) != 1 {
		return fmt.Errorf("helm made the packages %v of %s", packages, chart)
	}
	return os.Rename(packages[0], filepath.Join(into, filepath.Base(chart)+".tgz"))
}

// installer writes a file that installs the CRDs, the admission policies and the manager, and beside it the policies
// alone, for OLM.
func (d *deployment) installer(file string) error {
	const begin = "# Install with: kubectl apply -f install.yaml\n" +
		"# This file holds the CRD: kubectl delete -f install.yaml also deletes every AppService and its application.\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	policies := filepath.Join(filepath.Dir(file), "admission.yaml")
	d.charts = "" // one file has no place for them
	err := d.overlay([]string{"crd", "default", "admission"}, "legacy", func(all string) error {
		objects, err := os.ReadFile(all)
		if err != nil {
			return err
		}
		return os.WriteFile(file, append([]byte(begin), objects...), 0o644)
	})
	if err != nil {
		return err
	}
	text, err := output(d.pinned("kustomize", "build", "config/admission"))
	if err != nil {
		return err
	}
	fmt.Printf("Wrote %s and %s.\n", file, policies)
	return os.WriteFile(policies, []byte(text), 0o644)
}

// bundle prints the objects that operator-sdk makes a bundle of. Their order is kept: of the samples, consoles offer
// the first.
func (d *deployment) bundle() error {
	return d.overlay([]string{"manifests"}, "fifo", func(all string) error {
		objects, err := os.ReadFile(all)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(objects)
		return err
	})
}
