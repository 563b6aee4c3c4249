package release

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

func TestExplain(t *testing.T) {
	port := field.NewPath("spec", "ports").Index(0).Child("nodePort")
	size := field.NewPath("spec", "resources", "requests").Key("storage")
	invalid := func(list ...*field.Error) error {
		return fmt.Errorf("Service web: %w", apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", list))
	}
	service := object(t, "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: demo}}")
	there := plan.Change{Desired: service, Live: service, Field: "spec.clusterIP", Old: "10.0.0.1", New: "None"}
	claim := object(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web, namespace: demo}}")
	serial := object(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 2, podManagementPolicy: OrderedReady}}")
	parallel := object(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 1, podManagementPolicy: Parallel}}")
	cases := map[string]struct {
		change plan.Change
		err    error
		reason string // none where the answer stays as it is
		want   []string
	}{
		"out of range": {plan.Change{Desired: service}, invalid(field.Invalid(port, 1, "provided port is not in the valid range. The range of valid ports is 30000-32767")),
			v1.ReasonNodePortInvalid, []string{"node port 1 ", "(30000-32767)"}},
		"taken in the namespace": {plan.Change{Desired: service}, invalid(field.Invalid(port, 30002, "provided port is already allocated")),
			v1.ReasonNodePortConflict, []string{"node port 30002", `Service "holder"`}},
		"taken elsewhere": {plan.Change{Desired: service}, invalid(field.Invalid(port, 30003, "provided port is already allocated")),
			v1.ReasonNodePortConflict, []string{"node port 30003", "another namespace"}},
		"immutable": {there, invalid(field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), "None", "may not change once set")), v1.ReasonImmutableChange, []string{"spec.clusterIP of Service", "from 10.0.0.1 to None", "set it back"}},
		"smaller":   {plan.Change{Desired: service, Live: service}, invalid(field.Forbidden(size, "field can not be less than status.capacity")), v1.ReasonImmutableChange, []string{"spec.resources.requests[storage]", "cannot be changed"}},
		"no class that grows": {plan.Change{Desired: claim, Live: claim, Field: "spec.resources.requests.storage", Old: "1Gi", New: "2Gi"},
			apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "web", errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")),
			v1.ReasonImmutableChange, []string{`spec.resources.requests.storage of PersistentVolumeClaim "web" cannot change from 1Gi to 2Gi, because its StorageClass`, "set it back"}},
		"one of several fields": {plan.Change{Desired: serial, Live: parallel, Field: "spec.replicas", Old: "1", New: "2"},
			invalid(field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas' and 'template' are forbidden")),
			v1.ReasonImmutableChange, []string{`spec.podManagementPolicy of StatefulSet "web" cannot change from Parallel to OrderedReady`, "--cascade=orphan"}},
		"the field that is named": {plan.Change{Desired: serial, Live: parallel, Field: "spec.replicas", Old: "1", New: "2"}, // since Kubernetes 1.37
			invalid(field.Invalid(field.NewPath("spec", "podManagementPolicy"), "OrderedReady", "field is immutable")),
			v1.ReasonImmutableChange, []string{`spec.podManagementPolicy of StatefulSet "web" cannot change from Parallel to OrderedReady`, "--cascade=orphan"}},
		"a new object":   {plan.Change{Desired: service}, invalid(field.Invalid(field.NewPath("spec"), "", "field is immutable")), "", nil},
		"something else": {there, invalid(field.Required(field.NewPath("spec", "ports"), "")), "", nil},
		"another answer": {there, apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("field is immutable")), "", nil},
		"no answer":      {there, errors.New("connection refused"), "", nil},
	}
	holder := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "holder"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{NodePort: 30002}}}}
	a := &applier{live: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(holder).Build()}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := a.explain(t.Context(), test.change, test.err)
			var refused *plan.RefusedError
			if !errors.As(got, &refused) {
				if test.reason != "" || got.Error() != test.err.Error() {
					t.Errorf("got %v, want reason %q", got, test.reason)
				}
				return
			}
			if refused.Reason() != test.reason || !errors.Is(got, test.err) {
				t.Errorf("got reason %s of %v, want %s", refused.Reason(), refused.Err, test.reason)
			}
			for _, part := range test.want {
				if !strings.Contains(got.Error(), part) {
					t.Errorf("the message lacks %q: %v", part, got)
				}
			}
		})
	}
}

// The answers were recorded from an API server: test/diagnosis/record.
func TestRecordedNodePorts(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"node-port-invalid": {v1.ReasonNodePortInvalid, []string{"node port 80 ", "(30000-32767)"}},
		"node-port-taken":   {v1.ReasonNodePortConflict, []string{"node port 32123", `Service "holder"`}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("../../../test/testdata/diagnosis/" + name + ".yaml")
			require.NoError(t, err)
			var recorded struct {
				Objects []metav1.Status `json:"objects"`
			}
			if err := yaml.Unmarshal(text, &recorded); err != nil || len(recorded.Objects) != 1 {
				t.Fatalf("got %d answers (error %v), want 1", len(recorded.Objects), err)
			}
			service := object(t, "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: demo}}")
			holder := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "holder"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{NodePort: 32123}}}}
			a := &applier{live: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(holder).Build()}
			got := a.explain(t.Context(), plan.Change{Desired: service}, &apierrors.StatusError{ErrStatus: recorded.Objects[0]})
			var refused *plan.RefusedError
			if !errors.As(got, &refused) || refused.Reason() != test.reason {
				t.Fatalf("got %v, want reason %s", got, test.reason)
			}
			for _, part := range test.want {
				if !strings.Contains(got.Error(), part) {
					t.Errorf("the message lacks %q: %v", part, got)
				}
			}
		})
	}
}

func TestAHeadlessServiceStaysHeadless(t *testing.T) {
	of := func(spec string) plan.Change {
		return plan.Change{
			Desired: object(t, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {}}"),
			Live:    object(t, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: "+spec+"}"),
		}
	}
	if refused := staysHeadless(of("{clusterIP: None}")); refused == nil || refused.Reason() != v1.ReasonImmutableChange {
		t.Errorf("a headless Service that is to get an address: got %v", refused)
	}
	if refused := staysHeadless(of("{clusterIP: 10.0.0.1}")); refused != nil {
		t.Errorf("any other Service: got %v", refused)
	}
}

func TestFits(t *testing.T) {
	cases := map[string]struct {
		manifest     string
		values, spec map[string]any
		fits         bool
	}{
		"small":                  {"kind: x", map[string]any{"a": "b"}, nil, true},
		"large and compressible": {strings.Repeat("the same again\n", 200_000), nil, nil, true},
		"large":                  {noise(1 << 20), nil, nil, false},
		"large in the values":    {"kind: x", map[string]any{"a": noise(1 << 20)}, nil, false},
		"just below":             {noise(900 << 10), nil, nil, true},
		"with its spec":          {noise(480 << 10), nil, map[string]any{"a": noise(500 << 10)}, true},
		"with a larger spec":     {noise(530 << 10), nil, map[string]any{"a": noise(500 << 10)}, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			result := desired(t, test.values, &unstructured.Unstructured{Object: map[string]any{"text": test.manifest}})
			owner := &unstructured.Unstructured{Object: map[string]any{"spec": test.spec}}
			err := fits(Task{Owner: owner, Desired: result, Chart: &chart.Chart{Metadata: &chart.Metadata{}}})
			var refused *plan.RefusedError
			if (err == nil) != test.fits || err != nil && (!errors.As(err, &refused) || refused.Reason() != v1.ReasonTooLarge) {
				t.Errorf("got %v, want that it fits: %t", err, test.fits)
			}
		})
	}
}

// noise is text of a length in bytes that compresses to three quarters, and is as long again in base64.
func noise(length int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	text, state := make([]byte, length), uint64(1)
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = letters[state>>58]
	}
	return string(text)
}
