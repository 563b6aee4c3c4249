package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

// pageOf serves a cluster, and returns a function that asks for a path as the browser does that opened the page.
func pageOf(t *testing.T, objects ...client.Object) (*Server, func(path string) (int, string)) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	server, err := New(Cluster{Reader: reader, Mapper: testrestmapper.TestOnlyStaticRESTMapper(scheme), Now: func() time.Time { return now },
		View: View{Scope: "namespace shop", Kinds: []schema.GroupVersionKind{v1.GroupVersion.WithKind(v1.Kind)}},
		Logs: func(_ context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(namespace + "/" + pod + "/" + options.Container + map[bool]string{true: " before"}[options.Previous])), nil
		}}, listener(host))
	require.NoError(t, err)
	return server, func(path string) (int, string) {
		r := request(server.guard, nil)
		r.URL, err = r.URL.Parse(path)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
}

func owned(name string, app client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: app.GetNamespace(),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: v1.Kind, Name: app.GetName(), UID: app.GetUID(), Controller: new(bool)}}}
}

// marker is in everything that may hold a password.
const marker = "hunter2"

// application is an AppService with its objects, each with the marker.
func application() []client.Object {
	app := &v1.AppService{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", Generation: 2, CreationTimestamp: earlier,
			Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: marker, "foreign": marker}},
		Spec: v1.AppServiceSpec{Image: "nginx", Args: []string{marker}, Command: []string{marker}, Envs: []corev1.EnvVar{{Name: "A", Value: marker}}},
		Status: v1.AppServiceStatus{ObservedGeneration: 2, Phase: v1.PhaseRunning, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 1, Readiness: "1/2",
			Conditions: condition("False", "ContainerCrashed", "it crashes"),
			Problems:   []v1.Problem{{Type: v1.ProblemError, Reason: "ContainerCrashed", Message: "it crashes", Hint: "see its log"}},
			Resources: []v1.ResourceStatus{{Kind: "ConfigMap", Name: "web", Ready: true, State: v1.ResourceReady},
				{Kind: "Secret", Name: "web", Ready: true, State: v1.ResourceReady}}},
	}
	config := &corev1.ConfigMap{ObjectMeta: owned("web", app), Data: map[string]string{"key": marker}}
	config.Annotations = map[string]string{"foreign": marker}
	password := &corev1.Secret{ObjectMeta: owned("web", app), Data: map[string][]byte{"password": []byte(marker)}}
	for _, object := range []client.Object{config, password} {
		*object.GetOwnerReferences()[0].Controller = true
	}
	return []client.Object{app, config, password}
}

func TestThePageOfAResource(t *testing.T) {
	_, get := pageOf(t, application()...)
	code, body := get("/resource/AppService.app.example.com/shop/web")
	require.Equal(t, http.StatusOK, code, body)
	var shown page
	require.NoError(t, json.Unmarshal([]byte(body), &shown))
	assert.Equal(t, "AppService.app.example.com/shop/web", shown.Row.ID)
	assert.Equal(t, "AppService web", shown.Why.Name)
	assert.Contains(t, body, "see its log")
	assert.Contains(t, body, "Secret web")
	assert.Equal(t, rollout{Wanted: 2, Updated: 2, Ready: 1, Steps: []tree.Node{{Name: "Ready", State: tree.StateWaiting}}}, shown.Rollout)
	assert.NotContains(t, body, marker)

	code, body = get("/objects/AppService.app.example.com/shop/web")
	require.Equal(t, http.StatusOK, code, body)
	assert.Contains(t, body, "ConfigMap web")
	assert.Contains(t, body, `key: (7 characters)`)
	assert.NotContains(t, body, marker)
	assert.NotContains(t, body, "aHVudGVyMg", "base64 of it")

	code, body = get("/logs/shop/web-1/app?previous")
	assert.Equal(t, "200 shop/web-1/app before", strings.Join([]string{"200", body}, " "))
	assert.Equal(t, http.StatusOK, code)

	for path, want := range map[string]int{
		"/resource/AppService.app.example.com/shop/none": http.StatusNotFound,
		"/resource/Secret./shop/web":                     http.StatusNotFound,
		"/objects/Secret./shop/web":                      http.StatusNotFound,
		"/../server.go":                                  http.StatusNotFound,
		"/guard.go":                                      http.StatusNotFound,
	} {
		code, _ := get(path)
		assert.Equal(t, want, code, path)
	}
}

// events serves a page, and returns a function that returns the next event of its list.
func events(t *testing.T, server *Server) func() string {
	t.Helper()
	running := httptest.NewServer(nil)
	t.Cleanup(running.Close)
	server.guard.host = running.Listener.Addr().String()
	running.Config.Handler = server.Handler()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, running.URL+"/rows", nil)
	require.NoError(t, err)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(&http.Cookie{Name: server.guard.cookie, Value: server.guard.secret})
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	reader := bufio.NewReader(response.Body)
	return func() string {
		var lines []string
		for {
			line, err := reader.ReadString('\n')
			require.NoError(t, err)
			if line == "\n" {
				return strings.Join(lines, "")
			}
			lines = append(lines, line)
		}
	}
}

func TestChangesAreStreamed(t *testing.T) {
	server, _ := pageOf(t)
	server.rows.put(Row{ID: "a"})
	event := events(t, server)
	assert.Equal(t, "event: rows\ndata: {\"scope\":\"namespace shop\",\"kinds\":[\"AppService\"],"+
		"\"rows\":[{\"id\":\"a\",\"ready\":false}]}\n", event())
	server.rows.put(Row{ID: "b", Message: "line\nbreak"})
	assert.Equal(t, "event: row\ndata: {\"id\":\"b\",\"ready\":false,\"message\":\"line\\nbreak\"}\n", event())
	server.rows.remove("a")
	assert.Equal(t, "event: gone\ndata: \"a\"\n", event())
}

func TestThePageReadsTextsAsTexts(t *testing.T) {
	risky := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|Function\(|srcdoc|javascript:|\bon\w+=|style=|<script>`)
	require.NoError(t, fs.WalkDir(files, "page", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(path)
		assert.Empty(t, risky.FindAllString(string(content), -1), path)
		return err
	}))
	_, get := pageOf(t)
	for path, kind := range map[string]string{"/": "<!doctype html>", "/page.js": "'use strict'", "/page.css": ":root"} {
		code, body := get(path)
		assert.Equal(t, http.StatusOK, code, path)
		assert.Contains(t, body, kind)
	}
}
