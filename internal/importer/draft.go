package importer

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

// draft is an AppService under construction from a file without Kubernetes objects.
type draft struct {
	types.NamespacedName
	// of is its source, as in "service web".
	of     string
	pieces []piece
	notes  []Note
	// mounted are the files that are in spec.config.files already.
	mounted map[string]bool
}

func (d *draft) set(field string, set func(*v1.AppServiceSpec)) {
	d.pieces = append(d.pieces, piece{source{d.of, field}, set})
}

func (d *draft) note(field, reason, remedy string) {
	d.notes = append(d.notes, Note{Object: d.of, Field: field, Reason: reason, Remedy: remedy})
}

// finish returns the AppService of all pieces that the operator accepts.
func (i *Importer) finish(ctx context.Context, d *draft) (*Result, error) {
	app, refused, err := i.place(ctx, d.NamespacedName, d.pieces)
	if err != nil {
		return nil, fmt.Errorf("cannot make an AppService of %s: %w", d.of, err)
	}
	for _, refusal := range refused {
		d.note(refusal.from.field, "it is left out, as the operator refuses it: "+oneLine(refusal.err), "change it as that says")
	}
	s := &subject{name: d.Name, workload: &unstructured.Unstructured{}, selector: &metav1.LabelSelector{}, template: &corev1.PodTemplateSpec{}}
	i.shorten(ctx, app, func(rendered []*unstructured.Unstructured) any { return s.comparables(rendered) })
	return &Result{AppService: app, Notes: d.notes}, nil
}

// file adds a file at a path, without hiding other files of the image in the same folder.
func (d *draft) file(field, target, content string) {
	if d.mounted == nil {
		d.mounted = map[string]bool{}
	}
	key := path.Base(target)
	if d.mounted[key] {
		key = strings.ReplaceAll(strings.Trim(target, "/"), "/", "-")
	}
	d.mounted[key] = true
	d.set(field, func(spec *v1.AppServiceSpec) {
		if spec.Config == nil {
			spec.Config = &v1.Config{}
		}
		if spec.Config.Files == nil {
			spec.Config.Files = map[string]v1.ConfigValue{}
		}
		spec.Config.Files[key] = v1.ConfigValue(content)
		spec.VolumeMounts = append(spec.VolumeMounts, corev1.VolumeMount{Name: filesVolume, MountPath: target, SubPath: key, ReadOnly: true})
	})
}

// variable adds an environment variable, a literal or one with parts from a Secret.
func (d *draft) variable(field, name, value string) {
	d.set(field, func(spec *v1.AppServiceSpec) { spec.Envs = append(spec.Envs, corev1.EnvVar{Name: name, Value: value}) })
}

// claim adds a persistent volume: the first becomes spec.persistence.
func (d *draft) claim(field, name, mountPath string, first bool) {
	if first {
		d.set(field, func(spec *v1.AppServiceSpec) {
			spec.Persistence = &v1.Persistence{Size: oneGi, MountPath: mountPath}
		})
		d.note(field, "volume "+name+" becomes spec.persistence with 1Gi, as nothing says its size", "set spec.persistence.size, and copy the data")
		return
	}
	claim := d.Name + "-" + name
	d.set(field, func(spec *v1.AppServiceSpec) {
		if !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == claim }) {
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}})
		}
		spec.VolumeMounts = append(spec.VolumeMounts, corev1.VolumeMount{Name: claim, MountPath: mountPath})
	})
	d.note(field, "spec.persistence makes one volume only", "make a PersistentVolumeClaim "+claim+" beside the AppService")
}

// objectName returns a valid name of Kubernetes for any name.
func objectName(name string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	return strings.Trim(mapped, "-")
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
