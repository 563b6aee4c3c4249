// Package objects has, as Go code, what the chart renders for the benchmark's AppServices: for those who write these
// objects without the chart. A test compares both.
package objects

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// chartVersion is the one that the chart's labels name.
const chartVersion = "0.1.0"

func selector(app *v1.AppService) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "appservice", "app.kubernetes.io/instance": app.Name}
}

func meta(app *v1.AppService) metav1.ObjectMeta {
	labels := selector(app)
	labels["app.kubernetes.io/managed-by"] = "Helm"
	labels["helm.sh/chart"] = "appservice-" + chartVersion
	return metav1.ObjectMeta{
		Namespace: app.Namespace, Name: app.Name, Labels: labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(app, v1.GroupVersion.WithKind(v1.Kind))},
	}
}

// Deployment is what the chart renders, as far as the benchmark's spec goes.
func Deployment(app *v1.AppService) *appsv1.Deployment {
	out := &appsv1.Deployment{ObjectMeta: meta(app), Spec: appsv1.DeploymentSpec{
		Replicas: app.Spec.Size,
		Selector: &metav1.LabelSelector{MatchLabels: selector(app)},
		Strategy: appsv1.DeploymentStrategy{
			Type: appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxSurge:       ptr.To(intstr.FromString("25%")),
				MaxUnavailable: ptr.To(intstr.FromString("25%")),
			},
		},
		ProgressDeadlineSeconds: ptr.To[int32](600),
		RevisionHistoryLimit:    ptr.To[int32](10),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selector(app)},
			Spec:       pod(app),
		},
	}}
	out.Annotations = map[string]string{"app.example.com/reload-on-change": "true"}
	return out
}

func pod(app *v1.AppService) corev1.PodSpec {
	var spread []corev1.TopologySpreadConstraint
	for _, key := range []string{"topology.kubernetes.io/zone", "kubernetes.io/hostname"} {
		spread = append(spread, corev1.TopologySpreadConstraint{
			TopologyKey: key, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: selector(app)},
		})
	}
	port := app.Spec.Ports[0]
	return corev1.PodSpec{
		ServiceAccountName:            "default",
		AutomountServiceAccountToken:  ptr.To(false),
		SecurityContext:               &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		TerminationGracePeriodSeconds: ptr.To[int64](30),
		TopologySpreadConstraints:     spread,
		Containers: []corev1.Container{{
			Name: "app", Image: app.Spec.Image, ImagePullPolicy: corev1.PullIfNotPresent,
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			Ports:                    []corev1.ContainerPort{{Name: "http", ContainerPort: port.TargetPort.IntVal, Protocol: corev1.ProtocolTCP}},
			Env:                      []corev1.EnvVar{{Name: "PORT", Value: strconv.Itoa(int(port.TargetPort.IntVal))}},
			ReadinessProbe: &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}},
				PeriodSeconds: 2, FailureThreshold: 15,
			},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false)},
			Lifecycle:       &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}}},
		}},
	}
}

// Service likewise.
func Service(app *v1.AppService) *corev1.Service {
	port := app.Spec.Ports[0]
	return &corev1.Service{ObjectMeta: meta(app), Spec: corev1.ServiceSpec{
		Type:     corev1.ServiceTypeClusterIP,
		Selector: selector(app),
		Ports:    []corev1.ServicePort{{Port: port.Port, TargetPort: intstr.FromString("http"), Protocol: corev1.ProtocolTCP}},
	}}
}

// Ingress likewise.
func Ingress(app *v1.AppService) *networkingv1.Ingress {
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: app.Name, Port: networkingv1.ServiceBackendPort{Number: app.Spec.Ports[0].Port},
	}}
	path := networkingv1.HTTPIngressPath{Path: "/", PathType: ptr.To(networkingv1.PathTypePrefix), Backend: backend}
	return &networkingv1.Ingress{ObjectMeta: meta(app), Spec: networkingv1.IngressSpec{
		Rules: []networkingv1.IngressRule{{
			Host: app.Spec.Ingress.Hosts[0].Host,
			IngressRuleValue: networkingv1.IngressRuleValue{
				HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}},
			},
		}},
	}}
}
