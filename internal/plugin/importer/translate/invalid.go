package translate

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// invalid returns the error with which an API server or a kubelet would refuse rendered objects, where the chart and
// its schema leave it to them.
func invalid(rendered []*unstructured.Unstructured) error {
	for _, object := range rendered {
		if size, _, _ := unstructured.NestedString(object.Object, "spec", "resources", "requests", "storage"); size == "0" {
			return fmt.Errorf("spec.persistence.size: a claim of 0 is refused")
		}
		template := read.PodTemplate(object)
		if template == nil {
			continue
		}
		volumes, _, _ := unstructured.NestedSlice(object.Object, "spec", "volumeClaimTemplates")
		var names []string
		for _, claim := range read.Maps(volumes) {
			name, _, _ := unstructured.NestedString(claim, "metadata", "name")
			names = append(names, name)
		}
		if err := invalidPods(&template.Spec, names); err != nil {
			return err
		}
	}
	return nil
}

// invalidPods checks names and references within pods. Claims are the names of volumes that claim templates make.
func invalidPods(pod *corev1.PodSpec, claims []string) error {
	volumes := names(pod.Volumes, func(v corev1.Volume) string { return v.Name })
	if twice := repeated(volumes); twice != "" {
		return fmt.Errorf("volumes: there are two called %s", twice)
	}
	volumes = append(volumes, claims...)
	all := slices.Concat(pod.InitContainers, pod.Containers)
	containers := names(all, func(c corev1.Container) string { return c.Name })
	if twice := repeated(containers); twice != "" {
		return fmt.Errorf("containers: there are two called %s", twice)
	}
	for n := range all {
		if err := invalidContainer(&all[n], volumes); err != nil {
			return fmt.Errorf("container %s: %w", all[n].Name, err)
		}
	}
	return nil
}

func invalidContainer(c *corev1.Container, volumes []string) error {
	for _, mount := range c.VolumeMounts {
		if !slices.Contains(volumes, mount.Name) {
			return fmt.Errorf("volumeMounts[%s]: there is no volume %s", mount.MountPath, mount.Name)
		}
	}
	for what, list := range map[string][]string{
		"volumeMounts with the path": names(c.VolumeMounts, func(m corev1.VolumeMount) string { return m.MountPath }),
		"ports called":               names(c.Ports, func(p corev1.ContainerPort) string { return p.Name }),
		"variables called":           names(c.Env, func(e corev1.EnvVar) string { return e.Name }),
		"ports": names(c.Ports, func(p corev1.ContainerPort) string {
			return fmt.Sprintf("%d/%s", p.ContainerPort, p.Protocol)
		}),
	} {
		if twice := repeated(list); twice != "" {
			return fmt.Errorf("there are two %s %s", what, twice)
		}
	}
	for _, port := range c.Ports {
		if port.Name != "" && !isPortName(port.Name) {
			return fmt.Errorf("ports[%d].name: %s has to be at most 15 small letters, digits and -, with a letter", port.ContainerPort, port.Name)
		}
	}
	return nil
}

// repeated returns the first duplicate name; empty if there is none.
func repeated(names []string) string {
	for n, name := range names {
		if name != "" && slices.Contains(names[:n], name) {
			return name
		}
	}
	return ""
}
