package postrender

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Generated checks the annotations of Secrets that the operator fills, and annotates the pods that refer to them with
// the version of their values: they roll when a value is made again.
func Generated(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if annotation, asked := object.GetAnnotations()[v1.AnnotationGenerate]; asked {
			if err := checkGenerated(in, object, annotation); err != nil {
				return &ObjectError{object, fmt.Errorf("has a wrong annotation %s: %w", v1.AnnotationGenerate, err)}
			}
			nameCertificate(in, object, objects)
		}
	}
	annotateGenerated(in, objects)
	return nil
}

// GeneratedSecrets returns the names of the Secrets among some objects that the operator fills.
func GeneratedSecrets(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		if !generate.Of(object).None() {
			names = append(names, object.GetName())
		}
	}
	return names
}

// CertificatesOf returns the keys of certificates that Secrets among some objects ask for, by name; nil for none.
func CertificatesOf(objects []*unstructured.Unstructured) map[string][]string {
	keys := map[string][]string{}
	for _, object := range objects {
		if wanted := generate.Of(object); len(wanted.Certificates) > 0 {
			keys[object.GetName()] = wanted.Certificates
		}
	}
	return keys
}

// checkGenerated returns what is wrong with the annotation of an object.
func checkGenerated(in *Input, object *unstructured.Unstructured, annotation string) error {
	if object.GroupVersionKind() != kube.SecretKind {
		return fmt.Errorf("only Secrets are filled: annotate a Secret, and refer to it")
	}
	wanted, err := generate.Parse(annotation)
	if err != nil {
		return err
	}
	for _, key := range wanted.Keys() {
		for _, field := range []string{"data", "stringData"} {
			if _, rendered, _ := unstructured.NestedFieldNoCopy(object.Object, field, key); rendered {
				return fmt.Errorf("%s is in %s, too: leave one out", key, field)
			}
		}
	}
	if sealed, _, _ := unstructured.NestedBool(object.Object, "immutable"); sealed {
		return fmt.Errorf("a Secret with immutable: true cannot be filled: leave immutable out")
	}
	return wanted.Refused(in.Facts.Certificates[object.GetName()])
}

// nameCertificate annotates a Secret with the names that its certificate was made for: those of the Services. Without
// the annotation, its release would be another one than that which made it.
func nameCertificate(in *Input, secret *unstructured.Unstructured, objects []*unstructured.Unstructured) {
	if !slices.Contains(generate.Of(secret).Certificates, generate.TLSCert) {
		return
	}
	namespace, names := in.Owner.GetNamespace(), []string{}
	for _, object := range objects {
		if object.GetKind() == "Service" && object.GetAPIVersion() == "v1" {
			name := object.GetName()
			names = append(names, name, name+"."+namespace, name+"."+namespace+".svc")
		}
	}
	slices.Sort(names)
	secret.SetAnnotations(labels.Merge(secret.GetAnnotations(),
		map[string]string{v1.AnnotationGenerateFor: strings.Join(names, ",")}))
}

// annotateGenerated annotates pods with the versions of the Secrets that they refer to and that the operator fills.
// Those of a Job never change.
func annotateGenerated(in *Input, objects []*unstructured.Unstructured) {
	secrets := GeneratedSecrets(objects)
	if len(secrets) == 0 {
		return
	}
	for _, object := range objects {
		used := map[string]string{}
		for _, taken := range reference.ByPods(object) {
			if taken.Kind == reference.Secret && taken.Content && slices.Contains(secrets, taken.Name) {
				used[taken.Name] = cmp.Or(in.Facts.Generated[taken.Name], generate.FirstVersion(0))
			}
		}
		if template := reference.PodTemplate(object); template != nil && len(used) > 0 && object.GetKind() != "Job" {
			annotatePods(template, v1.AnnotationGeneratedVersion, versionsText(used))
		}
	}
}

// versionsText returns the versions of Secrets as pods have them, for example "web-generated=1,web-tls=3.1".
func versionsText(versions map[string]string) string {
	list := make([]string, 0, len(versions))
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		list = append(list, name+"="+versions[name])
	}
	return strings.Join(list, ",")
}

// GeneratedVersions returns the versions of Secrets that the pods of rendered objects are annotated with, by name.
func GeneratedVersions(objects []*unstructured.Unstructured) map[string]string {
	versions := map[string]string{}
	for _, object := range objects {
		text, _, _ := unstructured.NestedString(reference.PodTemplate(object), "metadata", "annotations",
			v1.AnnotationGeneratedVersion)
		for entry := range strings.SplitSeq(text, ",") {
			if name, version, found := strings.Cut(entry, "="); found {
				versions[name] = version
			}
		}
	}
	return versions
}
