//go:build cluster

package walk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// filled returns the Secret of the AppService that the operator fills; nil if there is none, or if nothing would be done about it now.
func (w *walker) filled(ctx context.Context) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: w.app.Namespace, Name: name + "-generated"}, secret)
	config, _ := w.spec["config"].(map[string]any)
	if apierrors.IsNotFound(err) || config["generated"] == nil || w.spec["paused"] == true || w.refused || w.calm == nil {
		return nil, nil
	}
	return secret, err
}

// deleteKey deletes one of the values that the operator has made: it makes another one.
func deleteKey(ctx context.Context, w *walker, choice uint64) (string, error) {
	secret, err := w.filled(ctx)
	if secret == nil || err != nil {
		return "", err
	}
	keys := keysOf(secret)
	key := keys[choice%uint64(len(keys))]
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{%q:null}}`, key))
	if err := cluster.Client.Patch(ctx, secret, patch, client.FieldOwner("somebody")); err != nil {
		return "", err
	}
	return key, eventually(ctx, func() error {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
			return err
		}
		if len(secret.Data[key]) == 0 {
			return fmt.Errorf("%s is not made again", key)
		}
		return nil
	})
}

// loseSecret deletes the Secret with the values. It is not made again before the user gives them up, or brings the Secret back.
func loseSecret(ctx context.Context, w *walker, choice uint64) (string, error) {
	secret, err := w.filled(ctx)
	if secret == nil || err != nil {
		return "", err
	}
	if err := cluster.Client.Delete(ctx, secret.DeepCopy()); err != nil {
		return "", err
	}
	if err := w.says(ctx, v1.ReasonGeneratedSecretLost); err != nil {
		return "", err
	}
	if choice%2 == 0 {
		secret.ResourceVersion, secret.UID = "", ""
		return "and brings it back", errors.Join(cluster.Client.Create(ctx, secret), w.isAs(ctx, w.calm))
	}
	if err := w.giveUp(ctx, fmt.Sprintf("%q", secret.Name)); err != nil {
		return "", err
	}
	if err := w.isAs(ctx, w.calm); err != nil {
		return "", err
	}
	return "and gives the values up", w.giveUp(ctx, "null")
}

// giveUp writes the annotation that names the Secrets whose values may be made again.
func (w *walker) giveUp(ctx context.Context, names string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, v1.AnnotationGenerateAgain, names)
	return cluster.Client.Patch(ctx, w.app.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner("kubectl-annotate"))
}

// says waits until Ready has a reason, for the present generation.
func (w *walker) says(ctx context.Context, reason string) error {
	return eventually(ctx, func() error {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(w.app), w.app); err != nil {
			return err
		}
		for _, condition := range w.app.Status.Conditions {
			if condition.Type == v1.ConditionReady && condition.Reason == reason && condition.ObservedGeneration == w.app.Generation {
				return nil
			}
		}
		return fmt.Errorf("Ready does not become %s: %s", reason, short(w.app.Status.Conditions))
	})
}

// keysOf returns the keys that the annotation of a Secret names, in order.
func keysOf(secret *corev1.Secret) (keys []string) {
	for entry := range strings.SplitSeq(secret.Annotations[v1.AnnotationGenerate], ",") {
		if key, _, isValue := strings.Cut(entry, "="); isValue {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// secret sees a Secret that the operator fills: it is created with its values, and an existing value never becomes another one.
func (w *witness) secret(event apiwatch.Event) {
	secret, is := event.Object.(*corev1.Secret)
	if !is || event.Type == apiwatch.Deleted || len(keysOf(secret)) == 0 {
		return
	}
	before, known := w.values[secret.UID]
	for _, key := range keysOf(secret) {
		if !known && len(secret.Data[key]) == 0 {
			w.wrong = append(w.wrong, fmt.Errorf("Secret %s is created without %s", secret.Name, key))
		}
	}
	for key, value := range before {
		if now := secret.Data[key]; len(now) > 0 && string(now) != string(value) {
			w.wrong = append(w.wrong, fmt.Errorf("Secret %s has another value of %s than before", secret.Name, key))
		}
	}
	w.values[secret.UID] = secret.Data
}

// noImage is the status of a pod whose image is not in the registry (tools/controlplane/stages.yaml).
const noImage = `{phase: Pending, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: app, image: x, imageID: "", ready: false, restartCount: 0, ` +
	`state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image x:1: ErrImagePull: rpc error: code = NotFound desc = not found"}}}]}`

// failRelease has a release fail, from which the AppService returns: then its objects are as before. The spec is restored afterwards.
func failRelease(ctx context.Context, w *walker, _ uint64) (string, error) {
	if ready, err := w.mayReturn(ctx); !ready || err != nil {
		return "", err
	}
	asks := merged(w.spec, m{"onFailure": m{"action": "Return"}})
	fails := merged(asks, m{"image": "nginx:none", "podAnnotations": m{"script.kwok.x-k8s.io/status": noImage}})
	if err := w.write(ctx, asks); err != nil {
		return "", err
	}
	if err := w.says(ctx, v1.ReasonRunning); err != nil {
		return "", err
	}
	if err := w.write(ctx, fails); err != nil {
		return "", err
	}
	if err := w.says(ctx, v1.ReasonReturnedToRelease); err != nil {
		return "", err
	}
	if err := w.isAs(ctx, w.calm); err != nil {
		return "", fmt.Errorf("it has returned, and is not as before: %w", err)
	}
	taken.add(func(s *statistics) { s.returned++ })
	return "and is answered", w.write(ctx, w.spec)
}

// mayReturn reports whether a Deployment has pods that are ready, to which the AppService can return: a StatefulSet waits for a pod that is broken,
// and the Job of another task is another object.
func (w *walker) mayReturn(ctx context.Context) (bool, error) {
	if w.role == ofReplicas || w.spec["paused"] == true || w.refused || w.calm == nil || w.spec["release"] != nil {
		return false, nil
	}
	if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(w.app), w.app); err != nil {
		return false, err
	}
	return w.app.Status.Phase == v1.PhaseRunning && w.app.Status.AvailableReplicas > 0, nil
}

// merged is a spec with fields of another one, merged as maps.
func merged(spec, fields map[string]any) map[string]any {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // it came as JSON
	}
	out := map[string]any{}
	_ = json.Unmarshal(text, &out)
	for key, value := range fields {
		nested, isMap := value.(map[string]any)
		have, _ := out[key].(map[string]any)
		if isMap && have != nil {
			value = merged(have, nested)
		}
		out[key] = value
	}
	return out
}
