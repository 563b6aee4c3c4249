//go:build cluster

package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// canary is in every field of a spec that could hold a secret. It is in nothing that the operator writes: log, events, status, metrics.
const canary = "c4n4ry"

// secretive are specs with the canary in each such field; the first two are installed one after the other, the others are refused by the operator,
// by the API server in an object, and because something is missing.
var secretive = []struct {
	spec   string
	reason string // empty for ready
}{
	{`{envs: [{name: A, value: c4n4ry}], envFrom: [{secretRef: {name: holder}}], args: [--password, c4n4ry], command: [sh, -c, c4n4ry],
config: {databaseUrl: "postgres://u:c4n4ry@db/x", environment: {A_TOKEN: c4n4ry}, files: {key.pem: c4n4ry}, logLevel: c4n4ry},
ports: [{port: 80}], probes: {liveness: {httpGet: {path: /c4n4ry, httpHeaders: [{name: Authorization, value: c4n4ry}]}}, readiness: {exec: {command: [c4n4ry]}}},
lifecycle: {postStart: {exec: {command: [c4n4ry]}}, preStop: {httpGet: {port: 80, path: /, httpHeaders: [{name: A, value: c4n4ry}]}}},
sidecars: [{name: b, image: b, env: [{name: A, value: c4n4ry}], args: [c4n4ry]}], initContainers: [{name: c, image: c, command: [c4n4ry]}],
podTemplate: {spec: {containers: [{name: app, env: [{name: B, value: c4n4ry}]}]}}}`, ""},
	{`{envs: [{name: A, value: c4n4ry-2}], envFrom: [{secretRef: {name: holder}}], args: [--password, c4n4ry-2], command: [sh, -c, c4n4ry-2],
config: {databaseUrl: "postgres://u:c4n4ry-2@db/x", environment: {A_TOKEN: c4n4ry-2}, files: {key.pem: c4n4ry-2}, logLevel: c4n4ry-2},
ports: [{port: 80}], probes: {liveness: {httpGet: {path: /c4n4ry-2, httpHeaders: [{name: Authorization, value: c4n4ry-2}]}}, readiness: {exec: {command: [c4n4ry-2]}}},
lifecycle: {postStart: {exec: {command: [c4n4ry-2]}}, preStop: {httpGet: {port: 80, path: /, httpHeaders: [{name: A, value: c4n4ry-2}]}}},
sidecars: [{name: b, image: b, env: [{name: A, value: c4n4ry-2}], args: [c4n4ry-2]}], initContainers: [{name: c, image: c, command: [c4n4ry-2]}],
podTemplate: {spec: {containers: [{name: app, env: [{name: B, value: c4n4ry-2}]}]}}}`, ""},
	{`{podTemplate: {spec: {containers: [{name: app, env: [{name: A, valu: c4n4ry}]}]}}}`, v1.ReasonInvalidSpec},
	{`{envs: [{name: A, value: c4n4ry, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], args: [c4n4ry]}`, v1.ReasonInstallFailed},
	{`{sidecars: [{name: b, image: b, args: [c4n4ry], env: [{name: A, value: c4n4ry}], livenessProbe: {httpGet: {port: 0, httpHeaders: [{name: A, value: c4n4ry}]}}}]}`, v1.ReasonInstallFailed},
	{`{config: {databaseUrl: "postgres://u:c4n4ry@db/x"}, envFrom: [{secretRef: {name: missing}}]}`, v1.ReasonDependencyMissing},
}

// told are specs with the canary in one field each, in which users may have secrets although others read the object. Each is installed, then changed.
var told = map[string]string{
	"pod-annotation": `{podAnnotations: {example.com/token: c4n4ry}}`,
	"annotation":     `{ports: [{port: 80}], ingress: {annotations: {nginx.ingress.kubernetes.io/x-forwarded-prefix: /c4n4ry}, hosts: [{host: NAMESPACE.example.com}]}}`,
	"header":         `{ports: [{port: 80}], route: {parentRefs: [{name: public}], hostnames: [route.NAMESPACE.example.com], rules: [{matches: [{headers: {x-api-key: c4n4ry}}]}]}}`,
	"trigger":        `{size: 1, autoscaling: {maxReplicas: 3, triggers: [{type: rabbitmq, metadata: {host: "amqp://app:c4n4ry@rabbit:5672/"}}]}}`,
	"host-alias":     `{hostAliases: [{ip: 10.0.0.1, hostnames: [c4n4ry]}]}`,
	"attribute":      `{volumes: [{name: v, csi: {driver: secrets.example.com, volumeAttributes: {password: c4n4ry}}}]}`,
}

// changesTold installs each of these and changes it.
func (s *scene) changesTold() {
	s.Helper()
	for number, value := range []string{canary, canary + "-2"} {
		for name, spec := range told {
			app := s.appService(s.namespace, name, strings.ReplaceAll(spec, canary, value))
			require.NoError(s, cluster.Client.Patch(s.Context(), app, client.Apply, client.FieldOwner("tenant"), client.ForceOwnership), name) //nolint:staticcheck // of unstructured objects
			if name == "attribute" {                                                                                                           // which the policy does not allow
				cluster.Condition(s.T, s.named(name), v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
				continue
			}
			harness.Eventually(s.T, name+" is released", func() error {
				live := s.named(name)
				if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(live), live); err != nil {
					return err
				}
				if live.Status.Release == nil || live.Status.Release.Revision != number+1 || live.Status.ObservedGeneration != live.Generation {
					return fmt.Errorf("the status reports release %+v: %+v", live.Status.Release, live.Status.Conditions)
				}
				return nil
			})
		}
	}
}

func TestSecretsAreToldNowhere(t *testing.T) {
	for _, kind := range []string{"gateway.networking.k8s.io_httproutes", "keda.sh_scaledobjects"} {
		cluster.Install(t, files.CRD(t, "test/testdata/fixtures/crds/"+kind+".yaml"))
	}
	s := &scene{T: t, namespace: newNamespace(t, "canary-", nil)}
	s.make(s.namespace, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "holder"}, StringData: map[string]string{"PASSWORD": canary}})
	address := harness.FreeAddress(t)
	proxy := cluster.NewProxy(t)
	process := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+s.namespace, "--zap-log-level=10", "--metrics-bind-address="+address, "--metrics-secure=false")

	for i, given := range secretive {
		name := fmt.Sprintf("app-%d", max(i, 1)) // the second is the next version of the first
		app := s.appService(s.namespace, name, given.spec)
		if err := cluster.Client.Patch(t.Context(), app, client.Apply, client.FieldOwner("tenant"), client.ForceOwnership); err != nil { //nolint:staticcheck // of unstructured objects
			t.Fatal(err)
		}
		if given.reason == "" {
			cluster.Ready(t, s.named(name))
		} else {
			cluster.Condition(t, s.named(name), v1.ConditionReady, metav1.ConditionFalse, given.reason)
		}
	}
	s.drifts()
	s.changesTold()

	for what, text := range map[string]string{"the status": s.statuses(), "an event": s.events(), "a metric": scrape(t, address), "the log": logged(process)} {
		if !strings.Contains(text, s.namespace) && !strings.Contains(text, "app-1") {
			t.Errorf("%s tells of nothing: %.200s", what, text)
		}
		if at := strings.Index(text, canary); at >= 0 {
			t.Errorf("%s tells a secret: %s", what, text[max(0, at-200):min(len(text), at+100)])
		}
	}
}

// drifts changes rendered fields that hold secrets, and waits until they are repaired.
func (s *scene) drifts() {
	s.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "app-1-config"}}
	if err := cluster.Client.Patch(s.Context(), config, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"A_TOKEN":"c4n4ry-3"}}`))); err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s.T, "the ConfigMap is put right", func() error {
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(config), config); err != nil {
			return err
		}
		if config.Data["A_TOKEN"] != "c4n4ry-2" {
			return errors.New("it is not")
		}
		return nil
	})
}

func (s *scene) statuses() string {
	s.Helper()
	list := &v1.AppServiceList{}
	require.NoError(s, cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)))
	text := s.namespace
	for i := range list.Items {
		status, err := json.Marshal(list.Items[i].Status)
		require.NoError(s, err)
		text += string(status) + "\n"
	}
	return text
}

// events are those that the operator recorded: others are about pods.
func (s *scene) events() string {
	s.Helper()
	list := &corev1.EventList{}
	require.NoError(s, cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)))
	text := ""
	for _, event := range list.Items {
		if event.InvolvedObject.Kind == v1.Kind {
			text += event.InvolvedObject.Name + " " + event.Reason + " " + event.Message + "\n"
		}
	}
	return text
}

func scrape(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}

// logged ends a process and returns its output.
func logged(process *harness.Process) string {
	process.Kill()
	return process.Output.String()
}
