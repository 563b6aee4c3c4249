package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/node"
	"github.com/example/appservice-operator/tools/poll"
)

// mark is a further template, by which the chart that is served is recognized. No pod refers to what it makes.
const mark = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-mark
data:
  chart: %q
`

// marked returns a folder with the charts of the repository in helm-charts, that of AppServices with a mark.
func (s *suite) marked(text string) string {
	folder := filepath.Join(s.folder, "charts-"+text)
	charts := filepath.Join(folder, "helm-charts")
	try.Do(os.CopyFS(charts, os.DirFS(filepath.Join(s.root, "helm-charts"))))
	try.Do(os.WriteFile(filepath.Join(charts, "appservice", "templates", "mark.yaml"), fmt.Appendf(nil, mark, text), 0o644))
	return folder
}

// untilMarked waits until the chart with a mark is served.
func (s *suite) untilMarked(ctx context.Context, text string) {
	found := &corev1.ConfigMap{}
	found.Namespace, found.Name = apps, seed+"-mark"
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if err := s.client.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return err
		}
		if found.Data["chart"] != text {
			return fmt.Errorf("the chart %q is served, want %q", found.Data["chart"], text)
		}
		return nil
	}))
}

// chartFromConfigMap has the charts served from a ConfigMap, and changes them while the managers run.
func chartFromConfigMap(ctx context.Context, s *suite) {
	first := s.marked("one")
	second := s.marked("two")
	s.withoutRestarts(ctx, func() {
		s.deployWith(ctx, "CHARTS=configmap", "HELM_CHARTS="+filepath.Join(first, "helm-charts"))
		s.untilMarked(ctx, "one")
		before := s.restartsIn(ctx, operatorNamespace)
		try.Do(s.command(ctx, "make", "deploy-charts", "HELM_CHARTS="+filepath.Join(second, "helm-charts")))
		s.untilMarked(ctx, "two")
		if after := s.restartsIn(ctx, operatorNamespace); !maps.Equal(before, after) {
			try.Fail("the managers and their restarts are %v, before the new chart %v", after, before)
		}
	})
}

// chartFromImage has the charts served from an image volume, then from another image, and then from the manager's own again.
func chartFromImage(ctx context.Context, s *suite) {
	s.mountsImages(ctx)
	s.withoutRestarts(ctx, func() {
		for _, text := range []string{"three", "four"} {
			folder := s.marked(text)
			image, archive := "example.com/charts:"+text, filepath.Join(s.folder, "charts.tar")
			try.Do(node.BuildImage(ctx, "-tag", image, "-source", folder, "-out", archive, "charts"))
			try.Do(s.cluster.load(ctx, archive))
			s.deployWith(ctx, "CHARTS=image", "CHARTS_IMG="+image)
			s.untilMarked(ctx, text)
		}
		s.deployWith(ctx)
		s.untilGone(ctx, &corev1.ConfigMap{}, client.ObjectKey{Namespace: apps, Name: seed + "-mark"}) // which only the other charts make
	})
}

// deployWith runs make deploy with more variables, and waits until only managers of that run.
func (s *suite) deployWith(ctx context.Context, variables ...string) {
	try.Do(s.command(ctx, append([]string{"make", "deploy", "IMG=" + s.present.Image}, variables...)...))
	s.untilDeployed(ctx)
}

// untilDeployed waits until all managers are those of the last deployment.
func (s *suite) untilDeployed(ctx context.Context) {
	manager := &appsv1.Deployment{}
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if err := s.client.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: managerName}, manager); err != nil {
			return err
		}
		want, now := ptr.Deref(manager.Spec.Replicas, 1), manager.Status
		if now.ObservedGeneration != manager.Generation || now.UpdatedReplicas != want || now.Replicas != want || now.AvailableReplicas != want {
			return fmt.Errorf("of %d managers, %d are new, %d available, %d wanted", now.Replicas, now.UpdatedReplicas, now.AvailableReplicas, want)
		}
		return nil
	}))
}

// mountsImages returns errSkipped where a node has no image volumes.
func (s *suite) mountsImages(ctx context.Context) {
	var nodes corev1.NodeList
	try.Do(s.client.List(ctx, &nodes))
	for _, n := range nodes.Items {
		info := n.Status.NodeInfo
		for _, program := range []struct{ name, version, least string }{
			{"kubelet", info.KubeletVersion, "1.35.0"},
			{"containerd", strings.TrimPrefix(info.ContainerRuntimeVersion, "containerd://"), "2.1.0"},
		} {
			if program.name == "containerd" && program.version == info.ContainerRuntimeVersion {
				continue // another runtime
			}
			running, err := version.ParseGeneric(program.version)
			if err != nil {
				try.Fail("node %s has the %s %q: %w", n.Name, program.name, program.version, err)
			}
			if running.LessThan(version.MustParseGeneric(program.least)) {
				try.Fail("%w: image volumes need %s %s, node %s has %s", errSkipped, program.name, program.least, n.Name, program.version)
			}
		}
	}
}
