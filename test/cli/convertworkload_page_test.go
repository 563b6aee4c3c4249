//go:build cluster

package cli

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/page"
)

// Headings of docs/convert-workload.md.
const (
	choose, write, check = "1. Choose the direction", "2. Write the files", "3. Check"
	orphan               = "Step 1: delete the AppService, and leave its objects"
	stop                 = "Step 2: stop the old pods, only if a claim requires it"
	apply                = "Step 3: apply the changed AppService"
	end                  = "Step 4: end the old pods"
	look, otherClaims    = "Look at the result", "Other claims of a StatefulSet"
)

// The lines of choose.
const toSet, toDeployment = 0, 1

// silent is the number of lines of check that print nothing.
const silent = 7

// recipe is a person who follows that page, in one direction.
type recipe struct {
	*user
	text     string
	sections map[string][]page.Command
	// given replaces the variables of the direction, and on the way back the files.
	given *strings.Replacer
}

var heading = regexp.MustCompile(`(?m)^##+ (.*)$`)

// convert begins the recipe for an AppService that is Ready, and for the one that it becomes.
func (u *user) convert(t *testing.T, from, to string) *recipe {
	t.Helper()
	r := &recipe{user: u, text: string(files.Text(t, "docs/convert-workload.md")), sections: map[string][]page.Command{}}
	at := heading.FindAllStringSubmatchIndex(r.text, -1)
	for i, found := range at {
		rest := len(r.text)
		if i+1 < len(at) {
			rest = at[i+1][0]
		}
		blocks, err := page.Blocks(r.text[found[1]:rest])
		require.NoError(t, err)
		for _, block := range blocks {
			title := r.text[found[2]:found[3]]
			r.sections[title] = append(r.sections[title], block.Commands()...)
		}
	}
	const head = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata: {name: web}\nspec: "
	files.Write(t, filepath.Join(u.folder, "present.yaml"), head+from)
	files.Write(t, filepath.Join(u.folder, "web.yaml"), head+to)
	u.must(t, 0, "kubectl apply -f present.yaml")
	cluster.Ready(t, harness.Seed(u.namespace, "web"))
	return r
}

// goes chooses the direction, and replaces files by others.
func (r *recipe) goes(t *testing.T, direction int, others ...string) {
	t.Helper()
	for _, each := range strings.Fields(r.commands(t, choose)[direction].Text) {
		name, value, _ := strings.Cut(each, "=")
		others = append(others, "$"+name, value)
	}
	r.given = strings.NewReplacer(others...)
}

// commands returns those below a heading.
func (r *recipe) commands(t *testing.T, title string) (list []page.Command) {
	t.Helper()
	require.NotEmpty(t, r.sections[title], "the page has no commands below %q", title)
	for _, each := range r.sections[title] {
		if r.given != nil {
			each.Text = r.given.Replace(each.Text)
		}
		list = append(list, each)
	}
	return list
}

// does runs all commands of some headings, and returns what they print.
func (r *recipe) does(t *testing.T, titles ...string) (printed string) {
	t.Helper()
	for _, title := range titles {
		for _, each := range r.commands(t, title) {
			printed += r.must(t, 0, each.Text)
		}
	}
	return printed
}

// shows is does, for what the page shows.
func (r *recipe) shows(t *testing.T, titles ...string) {
	t.Helper()
	for _, title := range titles {
		for _, each := range r.commands(t, title) {
			r.printsAsShown(t, each)
		}
	}
}

// stops returns what the lines of check print that must print nothing, by their numbers.
func (r *recipe) stops(t *testing.T) map[int]string {
	t.Helper()
	found := map[int]string{}
	for i, each := range r.commands(t, check) {
		if each.Prints != "" {
			require.Equal(t, silent, i, "the page has other lines that print nothing")
			break
		}
		if got := r.run(t, each.Text, nil); got.stdout+got.stderr != "" {
			found[i+1] = got.stdout + got.stderr
		}
	}
	return found
}

// types runs a line that the page has in its text.
func (r *recipe) types(t *testing.T, line string) {
	t.Helper()
	require.Contains(t, r.text, "`"+line+"`")
	r.must(t, 0, strings.ReplaceAll(r.given.Replace(line), "=N", "=2"))
}

// uids names the objects of a kind, with their UIDs.
func (r *recipe) uids(t *testing.T, kind string) string {
	t.Helper()
	return r.must(t, 0, "kubectl get "+kind+` -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}'`)
}

// ranTask deletes the Job of the release task, so that another one shows that the task ran again.
func (r *recipe) ranTask(t *testing.T) {
	t.Helper()
	require.Contains(t, r.uids(t, "jobs"), "web-release-")
	r.must(t, 0, "kubectl delete jobs --all")
	harness.Eventually(t, "the pod of the task is gone", func() error {
		if strings.Contains(r.uids(t, "pods"), "web-release-") {
			return errors.New("it is there")
		}
		return nil
	})
}

// events calls a function, one event at a time, for the objects of a list in a namespace.
func events(t *testing.T, namespace string, list client.ObjectList, each func(watch.Event)) {
	t.Helper()
	watcher, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	require.NoError(t, err)
	found, err := watcher.Watch(t.Context(), list, client.InNamespace(namespace))
	require.NoError(t, err)
	t.Cleanup(found.Stop)
	go func() {
		for event := range found.ResultChan() {
			each(event)
		}
	}()
}

// sideBySide counts the pods that are created while there are pods of the other kind of workload.
func sideBySide(t *testing.T, namespace string) *atomic.Int32 {
	t.Helper()
	count, there := &atomic.Int32{}, map[string]map[types.UID]bool{"ReplicaSet": {}, "StatefulSet": {}}
	other := map[string]string{"ReplicaSet": "StatefulSet", "StatefulSet": "ReplicaSet"}
	events(t, namespace, &corev1.PodList{}, func(event watch.Event) {
		pod, is := event.Object.(*corev1.Pod)
		if !is {
			return
		}
		controller := metav1.GetControllerOfNoCopy(pod)
		switch {
		case controller == nil || there[controller.Kind] == nil:
		case event.Type == watch.Deleted:
			delete(there[controller.Kind], pod.UID)
		case event.Type == watch.Added:
			there[controller.Kind][pod.UID] = true
			if len(there[other[controller.Kind]]) > 0 {
				count.Add(1)
			}
		}
	})
	return count
}

// outages counts how often Service web has no ready endpoint, from the first one on.
func outages(t *testing.T, namespace string) *atomic.Int32 {
	t.Helper()
	count, served := &atomic.Int32{}, sync.Map{}
	events(t, namespace, &discoveryv1.EndpointSliceList{}, func(event watch.Event) {
		slice, is := event.Object.(*discoveryv1.EndpointSlice)
		if !is || slice.Labels[discoveryv1.LabelServiceName] != "web" {
			return
		}
		ready := false
		for _, endpoint := range slice.Endpoints {
			ready = ready || ptr.Deref(endpoint.Conditions.Ready, true)
		}
		if _, was := served.Load(slice.UID); was && !ready {
			count.Add(1)
		} else if ready {
			served.Store(slice.UID, true)
		}
	})
	return count
}

// One volume goes from the pods of a Deployment to those of a StatefulSet, and back: there are never pods of both.
func TestTheRecipeForAStatefulSetIsAsThePageShows(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	manager, both := cluster.Manager(t, u.namespace), sideBySide(t, u.namespace)
	const app = "{size: 1, image: nginx:1.27, ports: [{port: 80}], release: {command: [migrate]}, " +
		"persistence: {size: 1Gi, mountPath: /data, storageClassName: none}"
	r := u.convert(t, app+"}", app+", statefulSet: {}}")
	claims, services := r.uids(t, "pvc"), r.uids(t, "services")

	r.goes(t, toSet)
	r.shows(t, write, check)
	r.ranTask(t)
	r.shows(t, orphan, stop, apply, end, look)
	assert.Equal(t, claims, r.uids(t, "pvc"))
	assert.Contains(t, r.uids(t, "services"), services)
	r.types(t, "kubectl apply -f web.yaml")
	manager.Rest(t)
	assert.Empty(t, r.uids(t, "jobs"), "the release task ran again")

	r.goes(t, toDeployment, "there.yaml", "back.yaml", "web.yaml", "back.yaml")
	assert.Empty(t, r.stops(t))
	r.does(t, orphan, stop, apply, end)
	assert.Contains(t, r.does(t, look), "web-headless   <none>\n")
	r.types(t, "kubectl delete service web-headless")
	manager.Rest(t)
	assert.Equal(t, []string{claims, services, ""}, []string{r.uids(t, "pvc"), r.uids(t, "services"), r.uids(t, "jobs")})
	assert.Zero(t, both.Load(), "pods of both mounted the claim")
}

// Each replica gets a volume of its own, and back, while the Service has pods: no claim is deleted, and each is mounted again.
func TestTheRecipeForVolumesOfReplicas(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	manager := cluster.Manager(t, u.namespace)
	const app = "{size: 2, image: nginx:1.27, ports: [{port: 80}], persistence: {size: 1Gi, mountPath: /data, storageClassName: none"
	r := u.convert(t, app+"}}", app+", perReplica: true}}")
	shared, missed := r.uids(t, "pvc"), outages(t, u.namespace)
	r.goes(t, toSet)
	r.does(t, write)
	assert.Empty(t, r.stops(t))
	assert.Contains(t, r.does(t, check), "\nweb\nweb\ndata-web-0 and so on\n", "the claims of the old and of the new pods")
	r.does(t, orphan, apply)
	assert.Len(t, strings.Fields(r.must(t, 0, "kubectl get pods -o name")), 4, "both run side by side")
	r.does(t, end)
	assert.Contains(t, r.does(t, look), "data-web-0   Bound\ndata-web-1   Bound\nweb          Bound\n")
	all := r.uids(t, "pvc")
	assert.Contains(t, all, shared)
	manager.Rest(t)

	r.goes(t, toDeployment, "there.yaml", "back.yaml", "web.yaml", "back.yaml")
	assert.Empty(t, r.stops(t))
	r.does(t, orphan, apply, end, look)
	assert.Equal(t, all, r.uids(t, "pvc"))
	assert.Zero(t, missed.Load(), "the Service had no endpoint")
	manager.Rest(t)
}

// A change that would lose data, or be undone, is stopped before anything is written.
func TestTheRecipeStops(t *testing.T) {
	t.Parallel()
	const (
		plain = "{image: nginx:1.27, ports: [{port: 80}]}"
		wrong = "{image: nginx:1.27, ports: [{port: 80}], paused: true, statefulSet: {podManagementPolicy: No}}"
		each  = "{size: 1, image: nginx:1.27, ports: [{port: 80}], persistence: {size: 1Gi, mountPath: /data, storageClassName: none, perReplica: true"
	)
	cases := map[string]struct {
		from, to  string
		before    []string
		direction int
		want      map[int]string // parts of what the lines print
	}{
		"claims go with the StatefulSet": {each + ", retain: false}}", plain, nil, toDeployment, map[int]string{1: "web", 3: "web"}},
		"claims go with replicas":        {each + ", whenScaled: Delete}}", plain, nil, toDeployment, map[int]string{2: "web"}},
		"others write it and the file is wrong": {plain, wrong, []string{
			"kubectl annotate appservice web argocd.argoproj.io/tracking-id=argo",
			"kubectl label appservice web argocd.argoproj.io/instance=app kustomize.toolkit.fluxcd.io/name=flux helm.toolkit.fluxcd.io/name=helm",
			"kubectl create configmap shop",
			`kubectl patch appservice web --type=merge -p '{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "shop",` +
				` "uid": "'"$(kubectl get configmap shop -o jsonpath={.metadata.uid})"'"}]}}'`,
		}, toSet, map[int]string{4: "argoappfluxhelm", 5: "ConfigMap", 6: "true", 7: "podManagementPolicy: Unsupported value"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, cluster.Namespace(t))
			cluster.Manager(t, u.namespace)
			r := u.convert(t, test.from, test.to)
			r.goes(t, test.direction)
			for _, line := range test.before {
				u.must(t, 0, line)
			}
			r.does(t, write)
			got := r.stops(t)
			assert.Len(t, got, len(test.want), "%v", got)
			for line, words := range test.want {
				assert.Contains(t, got[line], words, "line %d", line)
			}
		})
	}
}

// Whoever goes back after any step has the pods that there were.
func TestTheRecipeGoesBack(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	manager := cluster.Manager(t, u.namespace)
	const app = "{size: 2, image: nginx:1.27, ports: [{port: 80}], release: {command: [migrate]}"
	r := u.convert(t, app+"}", app+", statefulSet: {}}")
	r.goes(t, toSet)
	r.does(t, write)
	r.ranTask(t)
	pods, deployment := r.uids(t, "pods"), r.uids(t, "deployments")
	isBack := func() {
		t.Helper()
		r.must(t, 0, "kubectl wait --for=condition=Ready --timeout=10m appservice/web")
		manager.Rest(t)
		assert.Equal(t, deployment, r.uids(t, "deployments"))
		assert.Empty(t, r.uids(t, "jobs"), "the release task ran again")
	}
	r.does(t, orphan)
	r.types(t, "kubectl apply -f back.yaml")
	isBack()
	assert.Equal(t, pods, r.uids(t, "pods"))

	r.does(t, orphan, stop)
	r.types(t, "kubectl scale $old web --replicas=N")
	r.types(t, "kubectl apply -f back.yaml")
	isBack()

	pods = r.uids(t, "pods")
	r.does(t, orphan, apply)
	r.goes(t, toDeployment, "there.yaml", "back.yaml", "web.yaml", "back.yaml")
	assert.Empty(t, r.stops(t))
	r.does(t, orphan, apply, end)
	isBack()
	assert.Equal(t, pods, r.uids(t, "pods"))
}

// A StatefulSet gets a claim more, and its pods are replaced one after the other, with the claims that they had.
func TestTheRecipeForOtherClaimsOfAStatefulSet(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	manager := cluster.Manager(t, u.namespace)
	const (
		one = "perReplica: true, size: 1Gi, storageClassName: none, mounts: "
		app = "{size: 2, image: nginx:1.27, ports: [{port: 80}], statefulSet: {}, claims: [{name: pgdata, " + one + "[{path: /a}]}"
	)
	r := u.convert(t, app+"]}", app+", {name: wal, "+one+"[{path: /b}]}]}")
	claims, missed := r.uids(t, "pvc"), outages(t, u.namespace)
	require.Len(t, strings.Fields(claims), 4)
	r.does(t, otherClaims)
	for i, each := range r.commands(t, otherClaims) {
		if strings.Contains(each.Text, "web-0") {
			require.GreaterOrEqual(t, i, 3)
			r.must(t, 0, strings.ReplaceAll(each.Text, "web-0", "web-1"))
		}
	}
	cluster.Ready(t, harness.Seed(u.namespace, "web"))
	all := r.uids(t, "pvc")
	assert.Len(t, strings.Fields(all), 8)
	assert.True(t, strings.HasPrefix(all, claims), "%s\nbefore:\n%s", all, claims)
	assert.Zero(t, missed.Load(), "the Service had no endpoint")
	manager.Rest(t)
}
