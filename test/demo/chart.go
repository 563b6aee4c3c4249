package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/example/appservice-operator/test/try"
)

const (
	charts   = "helm-charts"
	template = "appservice/templates/_pod.tpl"
	// anchor is the line of the template that the new one follows, the only one that begins with it.
	anchor = "  automountServiceAccountToken:"
	edit   = "  enableServiceLinks: false"
)

// changeChart edits a template in a copy of the chart, and shows that the running application follows. It takes no Go.
func (d *demo) changeChart(ctx context.Context) {
	folder := d.copyCharts()
	d.say("One line more in a template, no Go: pods no longer get environment variables of every Service beside them.")
	try.Do(editTemplate(filepath.Join(folder, template)))
	d.showEdit(ctx, filepath.Join(folder, template))
	revision := []string{"get", "appservice", app, "--output=jsonpath={.status.release.revision}", inNamespace}
	before := try.Get(d.quietly(ctx, revision...))
	d.restartManager(ctx, "--chart-dir="+d.folder)
	d.until(ctx, "there is another release", other(before), revision...)
	d.kubectl(ctx, "rollout", "status", "deployment/"+app, timeout, inNamespace)
	d.kubectl(ctx, "get", "pods", "--output=custom-columns=POD:.metadata.name,SERVICELINKS:.spec.enableServiceLinks", inNamespace)
	d.untilReady(ctx)
}

// copyCharts puts the charts into the demo's folder, in the place of an earlier copy, and returns where.
func (d *demo) copyCharts() string {
	folder := filepath.Join(d.folder, charts)
	try.Do(os.RemoveAll(folder))
	d.say("$ cp -r %s %s", charts, quote(d.folder))
	try.Do(os.CopyFS(folder, os.DirFS(filepath.Join(d.root, charts))))
	return folder
}

// editTemplate puts a line into the template of the pods.
func editTemplate(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	var edited []string
	for _, line := range lines {
		edited = append(edited, line)
		if strings.HasPrefix(line, anchor) {
			edited = append(edited, edit)
		}
	}
	if len(edited) != len(lines)+1 {
		return fmt.Errorf("cannot edit %s: it has %d lines that begin with %q, want 1", path, len(edited)-len(lines), anchor)
	}
	return os.WriteFile(path, []byte(strings.Join(edited, "\n")), 0o644)
}

// showEdit prints in what the template differs from that of the repository.
func (d *demo) showEdit(ctx context.Context, path string) {
	args := []string{"diff", "--no-index", "--unified=1", filepath.Join(charts, template), path}
	d.say("$ %s", commandLine("git", args))
	output, err := d.command(ctx, "git", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // they differ
		err = nil
	}
	_, hunk, _ := strings.Cut(string(output), "\n@@")
	try.Do(err)
	d.printed("@@" + hunk)
}
