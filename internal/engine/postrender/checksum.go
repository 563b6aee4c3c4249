package postrender

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// AnnotationChecksum is the annotation of a pod template by which charts roll pods when the configuration changes that
// they render: its checksum.
const AnnotationChecksum = "app.example.com/config-checksum"

// Checksum replaces checksums that cover rendered Secrets, with which anyone who may read pods could test guesses, by
// ones with a key, which the Secret has in its metadata. Without a key they stay as they are.
func Checksum(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, pods := range revealing(objects) {
		in.annotateKeys(pods.secrets)
		key := in.Facts.Keys[pods.secrets[0].GetName()]
		annotatePods(pods.template, AnnotationChecksum, keyed(key, pods.checksum))
	}
	return nil
}

// KeepKeys adds the keys of checksums to Secrets of an earlier release that had none yet.
func KeepKeys(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, pods := range revealing(objects) {
		in.annotateKeys(slices.DeleteFunc(slices.Clone(pods.secrets), func(secret *unstructured.Unstructured) bool {
			return secret.GetAnnotations()[v1.AnnotationChecksumKey] != ""
		}))
	}
	return nil
}

func (in *Input) annotateKeys(secrets []*unstructured.Unstructured) {
	for _, secret := range secrets {
		if text := in.Facts.Keys[secret.GetName()]; text != "" {
			secret.SetAnnotations(labels.Merge(secret.GetAnnotations(), map[string]string{v1.AnnotationChecksumKey: text}))
		}
	}
}

// A key of a Secret may be followed by digests of checksums that pods continue to show, as in "KEY:DIGEST,DIGEST": pods
// that an earlier version made do not roll before their configuration changes. Other texts are no keys.
var checksumKeys = regexp.MustCompile(`^[0-9a-f]{32}(:[0-9a-f]{32}(,[0-9a-f]{32})*)?$`)

// seed is what keys of Secrets that do not exist yet are made of, as long as the process lives.
var seed = sync.OnceValue(rand.Text)

// NewChecksumKey returns the key of a Secret of a resource whose pods continue to show some checksums.
func NewChecksumKey(resource types.UID, secret string, shown []string) string {
	key, separator := digest.Keyed(seed(), string(resource)+"/"+secret)[:keyedLength], ":"
	for _, checksum := range sorted(shown) {
		key, separator = key+separator+digest.Of([]byte(checksum))[:keyedLength], ","
	}
	return key
}

// keyedLength is the number of hexadecimal characters of a key, and of a checksum with one.
const keyedLength = 32

// keyed returns what pods show with a key instead of a checksum: 32 hexadecimal characters, or the checksum as before.
func keyed(text, checksum string) string {
	key, shown, _ := strings.Cut(text, ":")
	if key == "" || slices.Contains(strings.Split(shown, ","), digest.Of([]byte(checksum))[:keyedLength]) {
		return checksum
	}
	return digest.Keyed(key, checksum)[:keyedLength]
}

// ChecksumKeys returns the keys of Secrets among some objects, by name; nil if there are none.
func ChecksumKeys[O client.Object](objects []O) map[string]string {
	var keys map[string]string
	for _, object := range objects {
		text := object.GetAnnotations()[v1.AnnotationChecksumKey]
		if object.GetObjectKind().GroupVersionKind() == kube.SecretKind && checksumKeys.MatchString(text) {
			if keys == nil {
				keys = map[string]string{}
			}
			keys[object.GetName()] = text
		}
	}
	return keys
}

// Revealing returns the workloads among some objects whose pods show a checksum of a rendered Secret that they take,
// and the names of these Secrets.
func Revealing(objects []*unstructured.Unstructured) (workloads []*unstructured.Unstructured, secrets []string) {
	for _, pods := range revealing(objects) {
		workloads = append(workloads, pods.workload)
		for _, secret := range pods.secrets {
			secrets = append(secrets, secret.GetName())
		}
	}
	return workloads, sorted(secrets)
}

// ChecksumsOf returns the checksums that the pods of some objects show.
func ChecksumsOf(objects []*unstructured.Unstructured) (list []string) {
	for _, object := range objects {
		checksum, _, _ := unstructured.NestedString(reference.PodTemplate(object), "metadata", "annotations",
			AnnotationChecksum)
		if checksum != "" {
			list = append(list, checksum)
		}
	}
	return list
}

func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// NamingKey returns the key that the names of Jobs are made with that run once: one of some keys; empty if there are
// none.
func NamingKey(keys map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		key, _, _ := strings.Cut(keys[name], ":")
		return key
	}
	return ""
}

// covering is a pod template with a checksum, and the rendered Secrets that its pods take.
type covering struct {
	workload *unstructured.Unstructured
	template map[string]any
	checksum string
	secrets  []*unstructured.Unstructured
}

// revealing returns the pod templates among some objects whose checksum may cover values of rendered Secrets.
func revealing(objects []*unstructured.Unstructured) (list []covering) {
	var secrets []*unstructured.Unstructured
	for _, object := range objects {
		filled := object.Object["data"] != nil || object.Object["stringData"] != nil
		if filled && object.GroupVersionKind() == kube.SecretKind {
			secrets = append(secrets, object)
		}
	}
	slices.SortFunc(secrets, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	for _, object := range objects {
		template := reference.PodTemplate(object)
		checksum, _, _ := unstructured.NestedString(template, "metadata", "annotations", AnnotationChecksum)
		if checksum == "" || len(secrets) == 0 {
			continue
		}
		mentions := reference.ByPods(object)
		untaken := func(secret *unstructured.Unstructured) bool {
			return !slices.ContainsFunc(mentions, func(taken reference.Reference) bool {
				return taken.Content && taken.Object == reference.Object{Kind: reference.Secret, Name: secret.GetName()}
			})
		}
		if taken := slices.DeleteFunc(slices.Clone(secrets), untaken); len(taken) > 0 {
			list = append(list, covering{object, template, checksum, taken})
		}
	}
	return list
}
