package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/example/appservice-operator/test/try"
)

// nextSuffix is what the other version of the chart appends to each image.
const nextSuffix = "-next"

// newChart writes another version of the charts and returns the arguments that serve them. As docs/sizing.md advises, 1 %
// of the resources may be rolled out at a time, if that is more than the default.
func (b *bench) newChart() ([]string, error) {
	folder := filepath.Join(b.folder, "next")
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(folder, "helm-charts"), os.DirFS(filepath.Join(b.root, "helm-charts"))); err != nil {
		return nil, err
	}
	template := filepath.Join(folder, "helm-charts", "appservice", "templates", "_pod.tpl")
	text, err := os.ReadFile(template)
	if err != nil {
		return nil, err
	}
	changed := bytes.Replace(text, []byte(".Values.image | quote"), fmt.Appendf(nil, ".Values.image | printf %q | quote", "%s"+nextSuffix), 1)
	if bytes.Equal(changed, text) {
		return nil, fmt.Errorf("%s does not use the image as expected", template)
	}
	return []string{"--chart-dir=" + folder, fmt.Sprintf("--max-concurrent-rollouts=%d", max(10, b.n/100))}, os.WriteFile(template, changed, 0o644)
}

// chart starts the contender again with another version of its chart, and measures until all Deployments are of that.
func (m *match) chart(ctx context.Context) {
	if m.contender.newChart == nil {
		return
	}
	phase, finish := m.begin(ctx, "chart")
	phase.Wanted = len(m.names)
	m.process.stop()
	start := time.Now()
	m.process = m.start(m.contender, m.kubeconfig, try.Get(m.contender.newChart())...)
	m.follow(ctx, phase, start, func() int { return m.scene.count(m.names, m.present()+nextSuffix, true) })
	m.quiet(ctx)
	finish()
	m.say("%-12s %4d of %d rolled out in %6.2f s, %6.1f per second, CPU %.2f s", phase.Name, phase.Converged, phase.Wanted, phase.Seconds, phase.PerSecond, phase.CPU)
}
