package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestWhatASpecNamesNewly(t *testing.T) {
	read := func(text string) (spec map[string]any) {
		require.NoError(t, yaml.Unmarshal([]byte(text), &spec))
		return spec
	}
	const before = `{image: a, envFrom: [{secretRef: {name: old}}], imagePullSecrets: [{name: pull}]}`
	for after, want := range map[string][]string{
		before:    nil,
		`{}`:      nil,
		`{a: {}}`: nil,
		`{envFrom: [{secretRef: {name: new}}, {configMapRef: {name: new}}]}`:                                      {`ConfigMap "new"`, `Secret "new"`},
		`{imagePullSecrets: [{name: old}, {name: new}]}`:                                                          {`Secret "new"`},
		`{envs: [{name: A, valueFrom: {secretKeyRef: {name: new, key: secret}}}, {name: SECRET, value: hidden}]}`: {`Secret "new"`},
		`{config: {databaseUrlFrom: {secretKeyRef: {name: new, key: a}}}, ingress: {tls: [{secretName: new}]}}`:   {`Secret "new"`},
		`{serviceAccount: {name: deployer, create: false}}`:                                                       {`ServiceAccount "deployer"`},
		`{podTemplate: {spec: {serviceAccountName: deployer, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}}`: {
			`PersistentVolumeClaim "data"`, `ServiceAccount "deployer"`,
		},
		`{volumes: [{name: v, projected: {sources: [{secret: {name: new}}, {configMap: {name: new}}]}}, {name: w, csi: {nodePublishSecretRef: {name: csi}}}]}`: {
			`ConfigMap "new"`, `Secret "csi"`, `Secret "new"`,
		},
	} {
		got := newReferences(read(before), read(after))
		if len(want) == 0 {
			assert.Empty(t, got, after)
		} else {
			assert.Equal(t, want, got, after)
		}
	}
}
