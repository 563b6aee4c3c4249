package reference

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// defaultServiceAccount exists in every namespace, or is about to.
const defaultServiceAccount = "default"

func ofPod(pod *corev1.PodSpec) []Reference {
	var list []Reference
	if name := pod.ServiceAccountName; name != defaultServiceAccount {
		list = append(list, Reference{Object: Object{Kind: ServiceAccount, Name: name}, By: "serviceAccountName"})
	}
	for _, secret := range pod.ImagePullSecrets {
		list = append(list, Reference{Object: Object{Kind: Secret, Name: secret.Name}, Need: Advisory,
			By: "imagePullSecrets"})
	}
	for i := range pod.InitContainers {
		list = append(list, ofContainer(&pod.InitContainers[i])...)
	}
	for i := range pod.Containers {
		list = append(list, ofContainer(&pod.Containers[i])...)
	}
	for i := range pod.Volumes {
		list = append(list, ofVolume(&pod.Volumes[i])...)
	}
	return list
}

func ofContainer(container *corev1.Container) []Reference {
	var list []Reference
	for _, source := range container.EnvFrom {
		by := fmt.Sprintf("envFrom of container %q", container.Name)
		if from := source.ConfigMapRef; from != nil {
			list = append(list, content(ConfigMap, from.Name, "", from.Optional, by))
		}
		if from := source.SecretRef; from != nil {
			list = append(list, content(Secret, from.Name, "", from.Optional, by))
		}
	}
	for _, env := range container.Env {
		if env.ValueFrom == nil {
			continue
		}
		by := fmt.Sprintf("env %s of container %q", env.Name, container.Name)
		if from := env.ValueFrom.ConfigMapKeyRef; from != nil {
			list = append(list, content(ConfigMap, from.Name, from.Key, from.Optional, by))
		}
		if from := env.ValueFrom.SecretKeyRef; from != nil {
			list = append(list, content(Secret, from.Name, from.Key, from.Optional, by))
		}
	}
	return list
}

func ofVolume(volume *corev1.Volume) []Reference {
	by := fmt.Sprintf("volume %q", volume.Name)
	switch {
	case volume.ConfigMap != nil:
		return items(ConfigMap, volume.ConfigMap.Name, volume.ConfigMap.Items, volume.ConfigMap.Optional, by)
	case volume.Secret != nil:
		return items(Secret, volume.Secret.SecretName, volume.Secret.Items, volume.Secret.Optional, by)
	case volume.PersistentVolumeClaim != nil:
		return []Reference{{Object: Object{Kind: PersistentVolumeClaim,
			Name: volume.PersistentVolumeClaim.ClaimName}, By: by}}
	case volume.Projected != nil:
		var list []Reference
		for _, source := range volume.Projected.Sources {
			if from := source.ConfigMap; from != nil {
				list = append(list, items(ConfigMap, from.Name, from.Items, from.Optional, by)...)
			}
			if from := source.Secret; from != nil {
				list = append(list, items(Secret, from.Name, from.Items, from.Optional, by)...)
			}
		}
		return list
	}
	return nil
}

// items returns the keys that a volume contains; all of them if it names none.
func items(kind, name string, keys []corev1.KeyToPath, optional *bool, by string) []Reference {
	if len(keys) == 0 {
		return []Reference{content(kind, name, "", optional, by)}
	}
	list := make([]Reference, 0, len(keys))
	for _, item := range keys {
		list = append(list, content(kind, name, item.Key, optional, by))
	}
	return list
}

func content(kind, name, key string, optional *bool, by string) Reference {
	reference := Reference{Object: Object{Kind: kind, Name: name}, Key: key, Content: true, By: by}
	if optional != nil && *optional {
		reference.Need = Optional
	}
	return reference
}
