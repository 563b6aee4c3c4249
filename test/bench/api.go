package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/example/appservice-operator/test/connect"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

//go:embed stock-crd.yaml
var stockCRD []byte

// api is the control plane, with its administrator's rights.
type api struct {
	root    string
	config  *rest.Config
	client  client.Client
	shipped []*unstructured.Unstructured // the objects that config/default builds
}

// account is the service account of a contender.
type account struct {
	namespace, name string
	admin           bool
}

func (a account) user() string { return "system:serviceaccount:" + a.namespace + ":" + a.name }

func newAPI(root, kubeconfig string) *api {
	config, direct := try.Get2(connect.To(kubeconfig))
	return &api{root: root, config: config, client: direct}
}

// prepare installs the operator's kinds, that of the stock peers, and all rights: the operator's as config/default has them, admin for the
// others. With guards, it installs the policies of config/admission as well.
func (a *api) prepare(ctx context.Context, guards bool) {
	bases := try.Get(filepath.Glob(filepath.Join(a.root, "config/crd/bases/*.yaml")))
	crds := slices.Clone(stockCRD)
	for _, file := range bases {
		crd := try.Get(os.ReadFile(file))
		crds = append(append(crds, "\n"...), crd...)
	}
	a.shipped = try.Get(a.build(ctx, "config/default"))
	var policies []*unstructured.Unstructured
	if guards {
		policies = try.Get(a.build(ctx, "config/admission"))
	}
	kinds := try.Get(files.Decode(crds))
	for _, object := range slices.Concat(kinds, a.shipped, policies) {
		if object.GetKind() == "Deployment" {
			continue // the manager runs here, as a process that can be measured
		}
		try.Do(a.client.Create(ctx, object.DeepCopy()))
	}
	a.namespace(ctx, system)
	try.Do(poll.PacedWithin(ctx, time.Minute, poll.Every(100*time.Millisecond), func(context.Context) error {
		for _, kind := range kinds {
			group, _, _ := unstructured.NestedString(kind.Object, "spec", "group")
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(group + "/v1")
			kind, _, _ := unstructured.NestedString(kind.Object, "spec", "names", "kind")
			list.SetKind(kind + "List")
			if err := a.client.List(ctx, list); err != nil {
				return err
			}
		}
		return nil
	}))
}

// build returns the objects of a kustomization.
func (a *api) build(ctx context.Context, folder string) ([]*unstructured.Unstructured, error) {
	build := exec.CommandContext(ctx, "go", "tool", "-modfile=tools/pins/kustomize/go.mod", "kustomize", "build", folder)
	build.Dir, build.Stderr = a.root, os.Stderr
	text, err := build.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot build %s: %w", folder, err)
	}
	return files.Decode(text)
}

// productionArgs are the arguments of the manager in config/default.
func (a *api) productionArgs() ([]string, error) {
	for _, object := range a.shipped {
		if object.GetKind() != "Deployment" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if err != nil || len(containers) != 1 {
			return nil, errors.New("config/default has no Deployment with one container")
		}
		args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		return args, err
	}
	return nil, errors.New("config/default has no Deployment")
}

// identity returns a client configuration with the account's credentials, and writes a kubeconfig for programs.
func (a *api) identity(ctx context.Context, account account, kubeconfig string) *rest.Config {
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.namespace, Name: account.name}}
	if account.admin {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "bench-" + account.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.namespace, Name: account.name}},
		}
		for _, object := range []client.Object{object, binding} { // an earlier round has left them
			try.Do(client.IgnoreAlreadyExists(a.client.Create(ctx, object)))
		}
	}
	seconds := int64((24 * time.Hour).Seconds())
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := a.client.SubResource("token").Create(ctx, object, token); err != nil {
		try.Fail("cannot get a token for %s: %w", account.name, err)
	}
	config := rest.AnonymousClientConfig(a.config)
	config.BearerToken, config.QPS = token.Status.Token, -1
	file := clientcmdapi.NewConfig()
	file.Clusters["bench"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}
	file.AuthInfos["bench"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	file.Contexts["bench"] = &clientcmdapi.Context{Cluster: "bench", AuthInfo: "bench"}
	file.CurrentContext = "bench"
	try.Do(clientcmd.WriteToFile(*file, kubeconfig))
	return config
}

func (a *api) namespace(ctx context.Context, name string) string {
	try.Do(a.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	return name
}

// removeNamespace deletes a namespace and returns when it is gone, so that nothing of it disturbs the next contender.
func (a *api) removeNamespace(ctx context.Context, name string) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	try.Do(a.client.Delete(ctx, namespace))
	try.Do(poll.PacedWithin(ctx, 5*time.Minute, poll.Every(200*time.Millisecond), func(context.Context) error {
		err := a.client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("namespace %s is still there", name))
	}))
}
