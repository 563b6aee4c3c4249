package plugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
)

// resourceName identifies a resource of the cluster, given on the command line as NAME, for an AppService, or as
// KIND/NAME.
type resourceName struct {
	Kind schema.GroupVersionKind
	types.NamespacedName
}

// String returns the kind and the name, as in "appservice/web".
func (n resourceName) String() string { return text.Line(strings.ToLower(n.Kind.Kind) + "/" + n.Name) }

// appServices is the kind of names without a kind.
var appServices = v1.GroupVersion.WithKind(v1.Kind)

// nameOf returns the name of a resource.
func nameOf(resource *unstructured.Unstructured) resourceName {
	return resourceName{resource.GroupVersionKind(), client.ObjectKeyFromObject(resource)}
}

// read reads the resource that a name stands for.
func (n resourceName) read(ctx context.Context, reader client.Reader) (*unstructured.Unstructured, error) {
	resource := kube.Object(n.Kind)
	if err := reader.Get(ctx, n.NamespacedName, resource); err != nil {
		return nil, n.unread(err)
	}
	return resource, nil
}

// unread returns the error of a resource that could not be read.
func (n resourceName) unread(err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no %s in namespace %s: kubectl appservice status lists those that exist", n, n.Namespace)
	}
	return fmt.Errorf("cannot read %s: %w", n, err)
}

// resourceName returns the resource that an argument names, in the namespace of the flag or of the context.
func (s *cli) resourceName(argument string) (resourceName, error) {
	namespace, err := s.namespace()
	if err != nil {
		return resourceName{}, err
	}
	word, name, found := strings.Cut(argument, "/")
	if !found {
		return resourceName{appServices, types.NamespacedName{Namespace: namespace, Name: argument}}, nil
	}
	if name == "" || strings.Contains(name, "/") {
		return resourceName{}, fmt.Errorf("%q names no resource: use NAME or KIND/NAME, as in appjob/migrate", argument)
	}
	kind, err := s.kind(word)
	return resourceName{kind, types.NamespacedName{Namespace: namespace, Name: name}}, err
}

// kind returns the kind that a word stands for: its name, its plural, its short name, with or without the group.
func (s *cli) kind(word string) (schema.GroupVersionKind, error) {
	if word = strings.ToLower(word); word == strings.ToLower(v1.Kind) || word == strings.ToLower(v1.Kind)+"s" {
		return appServices, nil // needs no request
	}
	mapper, err := s.kube.ToRESTMapper()
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	kind, err := mapper.KindFor(schema.ParseGroupResource(word).WithVersion(""))
	switch {
	case meta.IsNoMatchError(err):
		return kind, fmt.Errorf("the cluster serves no kind %q: kubectl api-resources lists those that it does", word)
	case err != nil:
		return kind, fmt.Errorf("cannot ask the cluster for its kinds: %w", err)
	case scheme.Scheme.Recognizes(kind):
		return kind, fmt.Errorf("%s is not a kind of the operator: name the AppService that it belongs to (kubectl appservice tree shows what that became)", kind.Kind)
	}
	return kind, nil
}

// oneName is the argument check of commands that take one resource.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("name one resource: %s", cmd.UseLine())
}

// someNames is the argument check of commands that take one resource or more.
func someNames(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return fmt.Errorf("name at least one resource: %s", cmd.UseLine())
}
