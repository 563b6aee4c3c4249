//go:build cluster

package security

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin"
)

// An administrator uses kubectl appservice on what a tenant wrote: with more rights, and with a terminal.
var _ = register(vectors{
	"a forged record under another owner's kind": {
		may: writesSecrets,
		does: recordsSpec(func(secret *corev1.Secret) {
			delete(secret.Labels, v1.LabelManaged)
			secret.OwnerReferences[0].APIVersion, secret.OwnerReferences[0].Kind = "nobody.example.org/v1", "Nothing"
		}),
		harm:  undone,
		guard: "commands believe what the operator believes: records with its marks", seen: lists("1  ", "99  "),
		fixed: "the operator and all commands decide by one function what a record is",
	},
	"undo to a release that never was": {
		may: writesSecrets, does: recordsSpec(func(*corev1.Secret) {}),
		harm:  undone,
		guard: "the admission policy for release records", words: []string{"release record"},
	},
	"text that the terminal of an administrator obeys": {
		does: func(s *scene) error {
			refused := s.appService(s.namespace, "refused", `{sidecars: [{name: b, image: "\u001b[2J\u001b]52;c;Y3VybA==\u0007"}]}`)
			if err := s.tenant.Create(s.Context(), refused); err != nil {
				return err
			}
			app := s.appService(s.namespace, "app", `{}`)
			app.SetAnnotations(map[string]string{"helm.sdk.operatorframework.io/install-description": "\x1b]0;pwned\a\x1b[2K\x1b[1A\x1b[32mall good"})
			return s.tenant.Create(s.Context(), app)
		},
		harm: func(s *scene) error {
			for _, command := range []string{"status", "status refused -o wide", "why refused", "tree app", "history app", "history app --revision 1", "history app -o yaml"} {
				if said := s.plugin(command + " --color=never"); strings.ContainsAny(said, "\x1b\a\u009b") {
					return nil
				}
			}
			return errors.New("nothing reaches the terminal")
		},
		guard: "all that is written replaces what terminals obey", seen: lists("all good", "\x1b"),
		fixed: "every command writes by the same writer",
	},
})

// plugin runs kubectl appservice as an administrator, and returns what it writes.
func (s *scene) plugin(command string) string {
	s.Helper()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	args := append(strings.Fields(command), "--kubeconfig="+cluster.Kubeconfig, "--namespace="+s.namespace)
	code := plugin.Run(s.Context(), args, streams)
	return fmt.Sprintf("%s%s(exit code %d)", out, errOut, code)
}

// lists returns nil once the history of AppService app has a text, unless it has another one.
func lists(text, without string) func(*scene) error {
	return func(s *scene) error {
		said := s.plugin("history app")
		if !strings.Contains(said, text) || strings.Contains(said, without) {
			return fmt.Errorf("the history is\n%s", said)
		}
		return nil
	}
}

// evil is the image of a spec that was never released.
const evil = "evil:1"

// undone returns nil once an administrator who goes back to an earlier release runs another image.
func undone(s *scene) error {
	said := s.plugin("undo app --yes")
	if image := s.live().Spec.Image; image != evil {
		return fmt.Errorf("the image is %s after: %s", image, said)
	}
	return nil
}

// recordsSpec has the tenant write a record of a release that never was, changed by a function.
func recordsSpec(change func(*corev1.Secret)) func(*scene) error {
	return func(s *scene) error {
		s.begins(`{}`)
		const revision = 99
		var payload bytes.Buffer
		letters := base64.NewEncoder(base64.StdEncoding, &payload)
		compressor := gzip.NewWriter(letters)
		release := map[string]any{"name": "app", "namespace": s.namespace, "version": revision, "info": map[string]any{"status": "superseded"}}
		err := errors.Join(json.NewEncoder(compressor).Encode(release), compressor.Close(), letters.Close())
		if err != nil {
			return err
		}
		secret := forged(s.live(), revision, payload.Bytes())
		secret.Labels["status"] = "superseded"
		source := map[string]any{"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind, "generation": 3, "spec": map[string]any{"size": 0, "image": evil}}
		if secret.Data["resource"], err = json.Marshal(source); err != nil {
			return err
		}
		change(secret)
		return s.tenant.Create(s.Context(), secret)
	}
}
