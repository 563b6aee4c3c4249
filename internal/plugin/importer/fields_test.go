package importer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const plain = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: app, image: "example.com/web:1", ports: [{name: http, containerPort: 8080}]}]
`

// TestEachFieldArrivesOrHasANote sets fields one by one, and looks for them in what the AppService becomes; one that is not there has a note.
func TestEachFieldArrivesOrHasANote(t *testing.T) {
	t.Parallel()
	i := importer(t)
	const pod, container = "spec.template.spec.", "spec.template.spec.containers.0."
	for field, test := range map[string]struct {
		value string
		noted bool
	}{
		"spec.replicas":                                  {"3", false},
		"spec.minReadySeconds":                           {"7", false},
		"spec.revisionHistoryLimit":                      {"3", false},
		"spec.progressDeadlineSeconds":                   {"60", false},
		"spec.strategy":                                  {"{type: Recreate}", false},
		"spec.paused":                                    {"true", true},
		pod + "hostname":                                 {"a", false},
		pod + "subdomain":                                {"a", false},
		pod + "schedulerName":                            {"a", false},
		pod + "dnsPolicy":                                {"Default", false},
		pod + "dnsConfig":                                {"{searches: [a.example.com]}", false},
		pod + "enableServiceLinks":                       {"false", false},
		pod + "shareProcessNamespace":                    {"true", false},
		pod + "runtimeClassName":                         {"a", false},
		pod + "priorityClassName":                        {"a", false},
		pod + "preemptionPolicy":                         {"Never", false},
		pod + "readinessGates":                           {"[{conditionType: a}]", false},
		pod + "setHostnameAsFQDN":                        {"true", false},
		pod + "nodeName":                                 {"a", false},
		pod + "nodeSelector":                             {"{a: b}", false},
		pod + "os":                                       {"{name: linux}", false},
		pod + "tolerations":                              {"[{key: a, operator: Exists}]", false},
		pod + "hostAliases":                              {"[{ip: 192.0.2.1, hostnames: [a]}]", false},
		pod + "imagePullSecrets":                         {"[{name: a}]", false},
		pod + "terminationGracePeriodSeconds":            {"5", false},
		pod + "securityContext.fsGroup":                  {"5", false},
		pod + "securityContext.supplementalGroups":       {"[5]", false},
		pod + "automountServiceAccountToken":             {"true", false},
		pod + "hostNetwork":                              {"true", true},
		pod + "hostIPC":                                  {"true", true},
		pod + "activeDeadlineSeconds":                    {"5", true},
		container + "workingDir":                         {"/a", false},
		container + "command":                            {"[a]", false},
		container + "args":                               {"[a]", false},
		container + "tty":                                {"true", false},
		container + "stdin":                              {"true", false},
		container + "stdinOnce":                          {"true", false},
		container + "terminationMessagePath":             {"/a", false},
		container + "imagePullPolicy":                    {"Always", false},
		container + "resources":                          {"{limits: {cpu: 1}}", false},
		container + "resizePolicy":                       {"[{resourceName: cpu, restartPolicy: NotRequired}]", false},
		container + "env":                                {"[{name: A, value: b}]", false},
		container + "envFrom":                            {"[{configMapRef: {name: a}, prefix: B_}]", false},
		container + "lifecycle":                          {"{postStart: {exec: {command: [a]}}}", false},
		container + "startupProbe":                       {"{httpGet: {path: /a, port: http}, periodSeconds: 3}", false},
		container + "livenessProbe":                      {"{grpc: {port: 8080, service: a}}", false},
		container + "readinessProbe":                     {"{exec: {command: [a]}, initialDelaySeconds: 4}", false},
		container + "securityContext.runAsUser":          {"5", false},
		container + "securityContext.runAsGroup":         {"5", false},
		container + "securityContext.procMount":          {"Unmasked", true},
		container + "securityContext.capabilities":       {"{add: [NET_ADMIN]}", true},
		container + "securityContext.appArmorProfile":    {"{type: RuntimeDefault}", false},
		container + "securityContext.seLinuxOptions":     {"{level: a}", false},
		container + "ports.0.hostPort":                   {"80", true},
		container + "ports.1":                            {"{name: other, containerPort: 1}", false},
		"spec.template.metadata.annotations.a":           {"b", false},
		"spec.template.metadata.labels.a":                {"b", false},
		"spec.template.metadata.labels.x\x00k8s\x00io/a": {"b", true},
		"metadata.annotations.a":                         {"b", false},
		"metadata.labels.a":                              {"b", true},
		"spec.template.metadata.annotations.linkerd/x":   {"z", false},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			object := parsed(t, []byte(plain))[0]
			content, err := yaml.YAMLToJSON([]byte(test.value))
			require.NoError(t, err)
			var value any
			require.NoError(t, utiljson.Unmarshal(content, &value))
			path := strings.Split(field, ".")
			for n := range path {
				path[n] = strings.ReplaceAll(path[n], "\x00", ".")
			}
			put(object.Object, path, value)
			given := object.DeepCopy()
			imported, err := i.Objects(t.Context(), []*unstructured.Unstructured{object}, "")
			require.NoError(t, err)
			results := imported.Results
			explained(t, results[0].Notes)
			rendered, err := i.Render(t.Context(), results[0].Resource)
			require.NoError(t, err)
			arrived := false
			for _, made := range rendered {
				if made.GetKind() == "Deployment" {
					want, got := valueAt(given.Object, path), valueAt(made.Object, path)
					arrived = got != nil && strings.Contains(inJSON(t, got), strings.Trim(leaf(want), "{}[]"))
				}
			}
			last := path[len(path)-1]
			noted := false
			for _, note := range results[0].Notes {
				noted = noted || strings.Contains(note.Field, last) || last == "hostPort" && strings.HasSuffix(note.Field, "ports")
			}
			if arrived == test.noted || test.noted && !noted {
				t.Errorf("arrived=%t, noted=%t, want noted=%t\nspec: %s\nnotes: %v", arrived, noted, test.noted, inJSON(t, results[0].Resource.Object["spec"]), results[0].Notes)
			}
		})
	}
}

// leaf is a telling part of a value: the last text or number in it.
func leaf(value any) string {
	for {
		switch content := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(content)) {
				value = content[key]
			}
			continue
		case []any:
			value = content[len(content)-1]
			continue
		}
		data, _ := json.Marshal(value)
		return string(data)
	}
}

// put sets a field; numbers are indexes.
func put(content any, path []string, value any) {
	switch content := content.(type) {
	case map[string]any:
		if len(path) == 1 {
			content[path[0]] = value
			return
		}
		if content[path[0]] == nil {
			content[path[0]] = map[string]any{}
		}
		if items, is := content[path[0]].([]any); is && path[1] == "1" {
			content[path[0]] = append(items, value)
			return
		}
		put(content[path[0]], path[1:], value)
	case []any:
		put(content[0], path[1:], value)
	}
}

// valueAt reads one.
func valueAt(content any, path []string) any {
	for _, step := range path {
		switch value := content.(type) {
		case map[string]any:
			content = value[step]
		case []any:
			switch {
			case step == "0":
				content = value[0]
			case len(value) > 1:
				content = value[1]
			default:
				return nil
			}
		}
	}
	return content
}

// inJSON returns a value as JSON.
func inJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}
