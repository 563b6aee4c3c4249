package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// rollout is a Deployment with an older and a newer ReplicaSet, and pods of both.
func rollout(newer, older []corev1.PodStatus) Findings {
	owner := func(kind, name string) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(name), Controller: &yes}}
	}
	f := Findings{Workload: deployment(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}}), Now: noon}
	for i, name := range []string{"web-2", "web-10"} {
		set := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), OwnerReferences: owner("Deployment", "web")}}
		set.Annotations = map[string]string{annotationRevision: strings.TrimPrefix(name, "web-")}
		f.ReplicaSets = append(f.ReplicaSets, set)
		for j, status := range [][]corev1.PodStatus{older, newer}[i] {
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, j), OwnerReferences: owner("ReplicaSet", name)}, Status: status}
			pod.UID = types.UID(pod.Name)
			pod.Spec.Containers = []corev1.Container{{Name: "app", Image: "app:1"}}
			f.Pods = append(f.Pods, pod)
		}
	}
	return f
}

func container1(status corev1.ContainerStatus) corev1.PodStatus {
	status.Name = "app"
	return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{status}}
}

func waitingFor(reason, message string) corev1.PodStatus {
	return container1(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}})
}

var healthy = container1(corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})

// crashing is a container that ended and waits, or that runs again since a while.
func crashing(restarts int32, lasted, again time.Duration) corev1.PodStatus {
	status := corev1.ContainerStatus{RestartCount: restarts, Ready: again > 0}
	ended := &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.NewTime(noon.Add(-again)), StartedAt: metav1.NewTime(noon.Add(-again - lasted))}
	status.LastTerminationState.Terminated = ended
	status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	if again > 0 {
		status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-again))}}
	}
	return container1(status)
}

func TestCauses(t *testing.T) {
	const tooOld = `2 image "app:1" cannot be pulled: the image is too old: its format (Docker schema 1) is no longer supported`
	image := func(message string) []corev1.PodStatus {
		return []corev1.PodStatus{waitingFor("ImagePullBackOff", `Back-off pulling image "app:1": ErrImagePull: `+message)}
	}
	pull := waitingFor("ImagePullBackOff", `Back-off pulling image "app:1": ErrImagePull: manifest unknown`)
	cases := map[string]struct {
		newer, older []corev1.PodStatus
		want         string
	}{
		"all is well":                              {[]corev1.PodStatus{healthy}, nil, ""},
		"only the older version is ill":            {[]corev1.PodStatus{healthy}, []corev1.PodStatus{pull}, ""},
		"the newer version is ill":                 {[]corev1.PodStatus{pull}, []corev1.PodStatus{healthy}, `2 image "app:1" cannot be pulled: the registry does not have it`},
		"all pods for one reason":                  {[]corev1.PodStatus{pull, pull}, nil, `2 image "app:1" cannot be pulled: the registry does not have it`},
		"some pods":                                {[]corev1.PodStatus{pull, healthy, pull}, nil, `2 2 of 3 pods: image "app:1" cannot be pulled: the registry does not have it`},
		"pods that have ended do not count":        {[]corev1.PodStatus{{Phase: corev1.PodFailed}, pull}, nil, `2 image "app:1" cannot be pulled: the registry does not have it`},
		"a first crash":                            {[]corev1.PodStatus{crashing(1, time.Second, time.Second)}, nil, `1 container "app" crashes with exit code 1`},
		"crashes again and again":                  {[]corev1.PodStatus{crashing(2, time.Second, 0)}, nil, `2 container "app" crashes with exit code 1`},
		"restarts are told in steps":               {[]corev1.PodStatus{crashing(6, time.Second, 0), crashing(9, time.Second, 0)}, nil, `2 container "app" crashes with exit code 1, restarted more than 5 times`},
		"it runs again for a moment":               {[]corev1.PodStatus{crashing(3, time.Second, 9*time.Second)}, nil, `2 container "app" crashes with exit code 1`},
		"it runs again for longer than before":     {[]corev1.PodStatus{crashing(3, time.Second, 11*time.Second)}, nil, ""},
		"it used to run for a minute":              {[]corev1.PodStatus{crashing(3, time.Minute, time.Minute)}, nil, `2 container "app" crashes with exit code 1`},
		"it used to run for hours":                 {[]corev1.PodStatus{crashing(3, 5*time.Hour, 6*time.Minute)}, nil, ""},
		"an older kubelet does not repeat why":     {[]corev1.PodStatus{waitingFor("ImagePullBackOff", `Back-off pulling image "app:1"`)}, nil, `2 image "app:1" cannot be pulled`},
		"an image for another kind of processor":   {[]corev1.PodStatus{waitingFor("ImagePullBackOff", `ErrImagePull: no match for platform in manifest: not found`)}, nil, `2 image "app:1" cannot be pulled: the image does not exist for the processors of the nodes`},
		"something about an image that is unheard": {[]corev1.PodStatus{waitingFor("ErrImagePull", `rpc error: code = Unknown desc = the moon is full`)}, nil, `1 image "app:1" cannot be pulled: the moon is full`},
		// The words are those of containerd 2.1, containerd 2.0 by two ways, and Docker 26.
		"an image too old for containerd 2.1":                       {image(`rpc error: code = Unimplemented desc = failed to pull and unpack image "app:1": not implemented: media type "application/vnd.docker.distribution.manifest.v1+prettyjws" is no longer supported since containerd v2.1, please rebuild the image as "application/vnd.docker.distribution.manifest.v2+json" or "application/vnd.oci.image.manifest.v1+json"`), nil, tooOld},
		"an image too old for containerd 2.0":                       {image(`failed to get converter for "app:1": Pulling Schema 1 images have been deprecated and disabled by default since containerd v2.0. As a workaround you may set an environment variable ` + "`CONTAINERD_ENABLE_DEPRECATED_PULL_SCHEMA_1_IMAGE=1`" + `, but this will be completely removed in containerd v2.1.`), nil, tooOld},
		"an image too old for containerd 2.0, its transfer service": {image(`rpc error: code = InvalidArgument desc = failed to pull and unpack image "app:1": schema 1 image manifests are no longer supported: invalid argument`), nil, tooOld},
		"an image too old for Docker 26":                            {image(`[DEPRECATION NOTICE] Docker Image Format v1 and Docker Image manifest version 2, schema 1 support is disabled by default and will be removed in an upcoming release. Suggest the author of docker.io/library/app:1 to upgrade the image to the OCI Format or Docker Image manifest v2, schema 2.`), nil, tooOld},
		"a manifest of today that is not there":                     {image(`unexpected media type text/html for application/vnd.oci.image.manifest.v1+json: not found`), nil, `2 image "app:1" cannot be pulled: the registry does not have it`},
		"a feature that is no longer supported":                     {image(`"io.containerd.restart.logpath" is no longer supported since containerd v2.0`), nil, `2 image "app:1" cannot be pulled: "io.containerd.restart.logpath" is no longer supported since containerd v2.0`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			f := rollout(test.newer, test.older)
			assert.Equal(t, test.want, causesOf(t, f))
			if test.want == tooOld {
				assert.Equal(t, "use a newer tag", Causes(f)[0].Hint)
			}
		})
	}
}

// causesOf prints causes, a line each, and fails if one has no hint.
func causesOf(t *testing.T, f Findings) string {
	t.Helper()
	var lines []string
	for _, cause := range Causes(f) {
		lines = append(lines, fmt.Sprintf("%d %s", cause.Effect, cause.Text()))
		assert.NotEmpty(t, cause.Hint, cause.Reason)
	}
	return strings.Join(lines, "\n")
}

func TestSuspectsAreOneOfEachKind(t *testing.T) {
	pull, config := waitingFor("ErrImagePull", ""), waitingFor("CreateContainerConfigError", "")
	ready := healthy
	ready.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	f := rollout([]corev1.PodStatus{pull, pull, ready, config, crashing(2, 1, 0), waitingFor("ContainerCreating", "")}, []corev1.PodStatus{pull})
	if got := fmt.Sprint(f.Suspects()); got != "[web-10-0 web-10-3 web-10-4]" {
		t.Errorf("got %s", got)
	}
}

func TestSteady(t *testing.T) {
	cause := func(effect Effect, detail string) []Cause {
		return []Cause{{Reason: v1.ReasonContainerCrashed, Source: "app", Message: "it crashes", Detail: detail, Effect: effect}}
	}
	cases := map[string]struct {
		before, now []Cause
		want        string
	}{
		"the first time":             {nil, cause(Passing, "port 1"), "1 it crashes: port 1"},
		"only numbers differ":        {cause(Passing, "port 1"), cause(Passing, "port 23"), "1 it crashes: port 1"},
		"words differ":               {cause(Passing, "port 1"), cause(Passing, "no port"), "1 it crashes: no port"},
		"it lasted":                  {cause(Lasting, ""), cause(Passing, ""), "2 it crashes"},
		"it begins to last":          {cause(Passing, ""), cause(Lasting, ""), "2 it crashes"},
		"it is over":                 {cause(Lasting, ""), nil, ""},
		"another cause is another's": {[]Cause{{Reason: v1.ReasonOutOfMemory, Source: "app", Effect: Lasting}}, cause(Passing, ""), "1 it crashes"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, cause := range Steady(test.before, test.now) {
				got += fmt.Sprintf("%d %s", cause.Effect, cause.Text())
			}
			assert.Equal(t, test.want, got)
		})
	}
}
