package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	charts   = "helm-charts"
	template = "appservice/templates/_pod.tpl"
	// anchor is the line of the template that the new one follows, the only one that begins with it.
	anchor = "  automountServiceAccountToken:"
	edit   = "  enableServiceLinks: false"
)

// changeChart edits a template in a copy of the chart, and shows that the running application follows. It takes no Go.
func (d *demo) changeChart(ctx context.Context) error {
	folder := filepath.Join(d.folder, charts)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	d.say("$ cp -r %s %s", charts, quote(d.folder))
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(d.root, charts))); err != nil {
		return err
	}
	d.say("One line more in a template, no Go: pods no longer get environment variables of every Service beside them.")
	if err := editTemplate(filepath.Join(folder, template)); err != nil {
		return err
	}
	if err := d.showEdit(ctx, filepath.Join(folder, template)); err != nil {
		return err
	}
	revision := []string{"get", "appservice", app, "--output=jsonpath={.status.release.revision}", inNamespace}
	before, err := d.quietly(ctx, revision...)
	if err != nil {
		return err
	}
	if err := d.restartManager(ctx, "--chart-dir="+d.folder); err != nil {
		return err
	}
	_, err = d.until(ctx, "there is another release", other(before), revision...)
	if err != nil {
		return err
	}
	if _, err := d.kubectl(ctx, "rollout", "status", "deployment/"+app, timeout, inNamespace); err != nil {
		return err
	}
	_, err = d.kubectl(ctx, "get", "pods", "--output=custom-columns=POD:.metadata.name,SERVICELINKS:.spec.enableServiceLinks", inNamespace)
	if err != nil {
		return err
	}
	return d.untilReady(ctx)
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
func (d *demo) showEdit(ctx context.Context, path string) error {
	args := []string{"diff", "--no-index", "--unified=1", filepath.Join(charts, template), path}
	d.say("$ %s", commandLine("git", args))
	output, err := d.command(ctx, "git", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // they differ
		err = nil
	}
	_, hunk, _ := strings.Cut(string(output), "\n@@")
	_, err = d.printed("@@"+hunk, err)
	return err
}
