package diagnose

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func containerPort(name string, number int32, protocol corev1.Protocol) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: number, Protocol: protocol}
}

func TestTargetsAreFoundAsKubernetesDoes(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	ports := PortsOf(&corev1.PodSpec{
		InitContainers: []corev1.Container{
			{Name: "migrate", Ports: []corev1.ContainerPort{containerPort("migration", 1, corev1.ProtocolTCP)}},
			{Name: "proxy", RestartPolicy: &always, Ports: []corev1.ContainerPort{containerPort("http", 2, corev1.ProtocolTCP), containerPort("proxy", 3, corev1.ProtocolTCP)}},
		},
		Containers: []corev1.Container{{Name: "app", Ports: []corev1.ContainerPort{
			containerPort("http", 8080, corev1.ProtocolTCP), containerPort("dns", 53, corev1.ProtocolUDP), containerPort("", 9, corev1.ProtocolTCP),
		}}},
	})
	cases := map[string]struct {
		port    corev1.ServicePort
		number  int32
		reached bool
	}{
		"a name":                          {corev1.ServicePort{TargetPort: intstr.FromString("http"), Protocol: corev1.ProtocolTCP}, 8080, true},
		"a name of another protocol":      {corev1.ServicePort{TargetPort: intstr.FromString("dns"), Protocol: corev1.ProtocolTCP}, 0, false},
		"a name that nobody has":          {corev1.ServicePort{TargetPort: intstr.FromString("web"), Protocol: corev1.ProtocolTCP}, 0, false},
		"a name of a sidecar":             {corev1.ServicePort{TargetPort: intstr.FromString("proxy"), Protocol: corev1.ProtocolTCP}, 3, true},
		"a name of what ends before":      {corev1.ServicePort{TargetPort: intstr.FromString("migration"), Protocol: corev1.ProtocolTCP}, 0, false},
		"a number that nobody speaks of":  {corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(81)}, 81, true},
		"nothing: the number of the port": {corev1.ServicePort{Port: 80}, 80, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if number, reached := ports.Target(test.port); number != test.number || reached != test.reached {
				t.Errorf("got %d, %t, want %d, %t", number, reached, test.number, test.reached)
			}
		})
	}
}

func TestOnlyPodsThatAreReadyCountOfEarlierVersions(t *testing.T) {
	ready := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	unready := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}
	f := rollout([]corev1.PodStatus{ready, waitingFor("ImagePullBackOff", "manifest unknown")}, []corev1.PodStatus{ready, ready, ready, unready})
	for i, name := range map[int]string{0: "old", 1: "older", 2: "going", 3: "unready", 4: "new"} {
		f.Pods[i].Spec.Containers[0].Ports = []corev1.ContainerPort{containerPort(name, int32(i), corev1.ProtocolTCP)}
	}
	deleted := metav1.NewTime(noon)
	f.Pods[2].DeletionTimestamp = &deleted
	want := Ports{{"old", corev1.ProtocolTCP}: 0, {"older", corev1.ProtocolTCP}: 1}
	causes := Causes(f)
	if len(causes) == 0 || causes[0].Earlier == nil {
		t.Fatalf("got the causes %+v, want one that speaks of the earlier version", causes)
	}
	if got := causes[0].Earlier; got.Ready != 2 || !maps.Equal(got.Ports, want) {
		t.Errorf("got %+v, want 2 pods with %v", got, want)
	}
	if got := (&Findings{Workload: deployment(&appsv1.Deployment{})}).earlier(); got != nil {
		t.Errorf("got %+v, though nobody has looked", got)
	}
}

func TestAProbeIsToldWithTheNumberOfItsPort(t *testing.T) {
	app := container{Container: &corev1.Container{Ports: []corev1.ContainerPort{containerPort("http", 8080, corev1.ProtocolTCP)}}}
	for port, want := range map[intstr.IntOrString]string{
		intstr.FromString("http"): " (TCP :8080)", intstr.FromString("web"): " (TCP :web)", intstr.FromInt32(9090): " (TCP :9090)",
	} {
		probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}}
		if got := target(app, probe); got != want {
			t.Errorf("%s: got %q, want %q", port.String(), got, want)
		}
	}
}
