package postrender

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// pods is a Deployment with the given pod spec.
func pods(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: "+spec+"}}}")
}

func TestPodSecurityRefusesWhatIsBelowTheLevel(t *testing.T) {
	const plain = "{containers: [{name: app, image: x}]}"
	cases := map[string]struct {
		pod      string
		least    Level
		enforced Level
		want     []string // parts of the error; none where it is taken
	}{
		"a plain pod":                           {plain, "", "", nil},
		"a plain pod in a restricted namespace": {plain, "", Restricted, nil},
		"anything in a privileged namespace":    {"{hostNetwork: true, containers: [{name: app, image: x}]}", "", Privileged, nil},
		"a capability in a privileged one":      {"{initContainers: [{name: vpn, image: x, securityContext: {capabilities: {add: [NET_ADMIN]}}}], containers: [{name: app, image: x}]}", "", Privileged, nil},
		"a capability in one that is baseline": {"{initContainers: [{name: vpn, image: x, securityContext: {capabilities: {add: [NET_ADMIN]}}}], containers: [{name: app, image: x}]}", "", Baseline,
			[]string{`"baseline"`, "the namespace enforces", "NET_ADMIN", `"vpn"`}},
		"a chart that asks for Baseline in a privileged one": {"{hostNetwork: true, containers: [{name: app, image: x}]}", Baseline, Privileged,
			[]string{`"baseline"`, "the chart requires", "host namespaces"}},
		"a chart that asks for Restricted in a privileged one": {"{securityContext: {runAsUser: 0}, containers: [{name: app, image: x}]}", Restricted, Privileged,
			[]string{`"restricted"`, "the chart requires", "runAsUser"}},
		"anything of a privileged chart": {"{hostPID: true, containers: [{name: app, image: x}]}", Privileged, "", nil},
		"a privileged chart where the namespace says otherwise": {"{hostPID: true, containers: [{name: app, image: x}]}", Privileged, Baseline,
			[]string{`"baseline"`, "the namespace enforces", "host namespaces"}},
		"the network of the host":    {"{hostNetwork: true, containers: [{name: app, image: x}]}", "", "", []string{`Deployment "web"`, `"baseline"`, "the operator requires by default", "host namespaces"}},
		"a path of the host":         {"{volumes: [{name: v, hostPath: {path: /}}], containers: [{name: app, image: x}]}", "", "", []string{"hostPath"}},
		"a privileged container":     {"{containers: [{name: app, image: x, securityContext: {privileged: true}}]}", "", "", []string{"privileged", `"app"`}},
		"a port of the host":         {"{initContainers: [{name: side, image: x, ports: [{containerPort: 1, hostPort: 1}]}], containers: [{name: app, image: x}]}", "", "", []string{"hostPort", `"side"`}},
		"an added capability":        {"{containers: [{name: app, image: x, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]}", "", "", []string{"SYS_ADMIN"}},
		"a sysctl":                   {"{securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}, containers: [{name: app, image: x}]}", "", "", []string{"kernel.msgmax"}},
		"a Windows host process":     {"{securityContext: {windowsOptions: {hostProcess: true}}, containers: [{name: app, image: x}]}", "", "", []string{"hostProcess"}},
		"unconfined seccomp":         {"{securityContext: {seccompProfile: {type: Unconfined}}, containers: [{name: app, image: x}]}", "", "", []string{"seccompProfile"}},
		"root in a restricted one":   {"{securityContext: {runAsUser: 0}, containers: [{name: app, image: x}]}", "", Restricted, []string{`"restricted"`, "the namespace enforces", "runAsUser"}},
		"maybe root in a restricted": {"{securityContext: {runAsNonRoot: false}, containers: [{name: app, image: x}]}", "", Restricted, []string{"runAsNonRoot"}},
		"two violations":             {"{hostNetwork: true, hostIPC: true, containers: [{name: app, image: x, securityContext: {privileged: true}}]}", "", "", []string{"host namespaces", "privileged"}},
	}
	for name, test := range cases {
		for _, kind := range []string{"Deployment", "Rollout"} {
			t.Run(kind+": "+name, func(t *testing.T) {
				object := pods(t, test.pod)
				object.SetKind(kind)
				before := object.DeepCopy()
				err := PodSecurity(t.Context(), &Input{PodSecurity: test.least, Facts: Facts{Enforced: test.enforced}}, []*unstructured.Unstructured{object})
				if len(test.want) == 0 && kind == "Rollout" && test.enforced == Restricted {
					assert.ErrorContains(t, err, "runAsNonRoot != true", "pods of other kinds are not hardened")
					return
				}
				if len(test.want) == 0 {
					require.NoError(t, err)
					return
				}
				var refused *PodSecurityError
				if !errors.As(err, &refused) {
					t.Fatalf("got %v, want a PodSecurityError", err)
				}
				for _, part := range test.want {
					assert.ErrorContains(t, err, strings.Replace(part, "Deployment", kind, 1))
				}
				if kind == "Rollout" {
					assert.Equal(t, before, object)
				}
			})
		}
	}
}

// Earlier versions did not look at kinds that are not built in: what the recorded release has stays, and nothing else.
func TestPodsOfOtherKindsThatTheRecordedReleaseHasStay(t *testing.T) {
	rollout := func(name, spec string) *unstructured.Unstructured {
		return parse(t, "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: "+name+"}, spec: {template: {spec: "+spec+"}}}")
	}
	const host = "{hostNetwork: true, containers: [{name: app, image: x}]}"
	for name, test := range map[string]struct {
		pod      *unstructured.Unstructured
		recorded []*unstructured.Unstructured
		refused  string // empty if it stays
	}{
		"as recorded":                 {rollout("web", host), []*unstructured.Unstructured{rollout("web", host)}, ""},
		"with another image":          {rollout("web", strings.Replace(host, "image: x", "image: nginx", 1)), []*unstructured.Unstructured{rollout("web", host)}, ""},
		"less than that":              {rollout("web", host), []*unstructured.Unstructured{rollout("web", strings.Replace(host, "image: x", "image: x, securityContext: {privileged: true}", 1))}, ""},
		"more than that":              {rollout("web", strings.Replace(host, "{", "{hostPID: true, ", 1)), []*unstructured.Unstructured{rollout("web", host)}, "hostPID=true"},
		"another object has it":       {rollout("web", host), []*unstructured.Unstructured{rollout("other", host)}, "host namespaces"},
		"a Deployment has it":         {rollout("web", host), []*unstructured.Unstructured{pods(t, host)}, "host namespaces"},
		"nothing is recorded":         {rollout("web", host), nil, "host namespaces"},
		"of a Deployment":             {pods(t, host), []*unstructured.Unstructured{pods(t, host)}, "host namespaces"},
		"that cannot be read":         {rollout("web", "{containers: one}"), nil, "cannot be read as that of pods"},
		"that could not be read then": {rollout("web", "{containers: one}"), []*unstructured.Unstructured{rollout("web", "{containers: one}")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Input{Owner: &unstructured.Unstructured{}, Facts: Facts{Recorded: test.recorded}}
			err := PodSecurity(t.Context(), in, []*unstructured.Unstructured{test.pod})
			if test.refused != "" {
				require.ErrorContains(t, err, test.refused)
				require.Nil(t, in.Outdated)
				return
			}
			require.NoError(t, err)
			require.Len(t, in.Outdated.Violations, 1)
			require.NotContains(t, in.Outdated.Advice(), "policy")
		})
	}
	in := &Input{Facts: Facts{Enforced: Privileged}}
	require.Error(t, PodSecurity(t.Context(), in, []*unstructured.Unstructured{rollout("web", "{containers: one}")}), "nobody checks what cannot be read")
}

// A profile that the spec requests holds in any namespace, whatever takes it back field by field.
func TestPodSecurityHoldsPodsToTheProfileThatTheSpecAsksFor(t *testing.T) {
	const root, plain = "{securityContext: {runAsUser: 0}, containers: [{name: app, image: x}]}", "{containers: [{name: app, image: x}]}"
	cases := map[string]struct {
		pod             string
		profile         string
		least, enforced Level
		want            []string // parts of the error; none where it is taken
	}{
		"a plain pod":                {plain, "restricted", "", Privileged, nil},
		"root":                       {root, "restricted", "", "", []string{`"restricted"`, "the spec requests", "runAsUser"}},
		"root in a privileged one":   {root, "restricted", "", Privileged, []string{"the spec requests", "runAsUser"}},
		"root of a privileged chart": {root, "restricted", Privileged, "", []string{"the spec requests", "runAsUser"}},
		"root in a restricted one":   {root, "restricted", "", Restricted, []string{"the namespace enforces", "runAsUser"}},
		"root of a sidecar": {"{initContainers: [{name: side, image: x, securityContext: {runAsUser: 0}}], containers: [{name: app, image: x}]}", "restricted", "", "",
			[]string{"the spec requests", "runAsUser", `"side"`}},
		"a sidecar that gains rights": {"{initContainers: [{name: side, image: x, securityContext: {allowPrivilegeEscalation: true}}], containers: [{name: app, image: x}]}", "restricted", "", "",
			[]string{"allowPrivilegeEscalation", `"side"`}},
		"a profile that is looser than the namespace": {root, "privileged", "", Restricted, []string{"the namespace enforces"}},
		"a profile that nobody knows":                 {plain, "Restricted", "", "", []string{`Deployment "web"`, "must be privileged, baseline or restricted"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			object := pods(t, test.pod)
			object.SetAnnotations(map[string]string{v1.AnnotationPodSecurity: test.profile})
			err := PodSecurity(t.Context(), &Input{PodSecurity: test.least, Facts: Facts{Enforced: test.enforced}}, []*unstructured.Unstructured{object})
			if len(test.want) == 0 && err != nil || len(test.want) > 0 && err == nil {
				t.Fatalf("got the error %v, want %q", err, test.want)
			}
			for _, part := range test.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}

func TestPodSecurityLocksPodsInWhereTheyLeaveItOpen(t *testing.T) {
	object := pods(t, `{securityContext: {fsGroup: 7}, initContainers: [{name: side, image: x}],
  containers: [{name: app, image: x, securityContext: {capabilities: {add: [NET_BIND_SERVICE], drop: [CHOWN]}, readOnlyRootFilesystem: true}}]}`)
	service := parse(t, "{apiVersion: v1, kind: Service, metadata: {name: web}}")
	want := pods(t, `{securityContext: {fsGroup: 7, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
  initContainers: [{name: side, image: x, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}],
  containers: [{name: app, image: x, securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}, readOnlyRootFilesystem: true}}]}`)
	require.NoError(t, PodSecurity(t.Context(), &Input{Facts: Facts{Enforced: Restricted}}, []*unstructured.Unstructured{service, object}))
	assert.Equal(t, asJSON(t, want.Object), asJSON(t, object.Object))
}
