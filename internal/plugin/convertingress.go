package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/internal/plugin/ingressroute"
)

// convertIngressOptions are the flags of convert-ingress.
type convertIngressOptions struct {
	*cli
	file, gateway string
}

func convertIngressCommand(s *cli) *cobra.Command {
	c := &convertIngressOptions{cli: s}
	command := &cobra.Command{
		Use:   "convert-ingress NAME | -f FILE",
		Short: "Turn the Ingress of an AppService into a route",
		Long: "Convert-ingress prints an AppService with spec.route instead of spec.ingress: hosts, paths and certificates, and fields for what the\n" +
			"annotations of ingress-nginx did. A note says what a route does not do. It changes nothing.",
		Example: `# the AppService web in the cluster, for the Gateway public of the namespace gateways
kubectl appservice convert-ingress web --gateway gateways/public

# one of a file
kubectl appservice convert-ingress -f app.yaml --gateway public`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.completeNames,
		RunE:              func(command *cobra.Command, args []string) error { return c.run(command.Context(), args) },
	}
	flags := command.Flags()
	flags.StringVarP(&c.file, "filename", "f", "", "file with the AppService instead of one in the cluster; - for stdin")
	flags.StringVar(&c.gateway, "gateway", "", "the Gateway for the route: NAME, or NAMESPACE/NAME")
	return command
}

func (c *convertIngressOptions) run(ctx context.Context, args []string) error {
	gateway, err := c.parent()
	if err != nil {
		return err
	}
	resources, err := c.resources(ctx, args)
	if err != nil {
		return err
	}
	for i, resource := range resources {
		if i > 0 {
			_, _ = fmt.Fprintln(c.Out, "---")
		}
		if err := c.convert(resource, gateway); err != nil {
			return fmt.Errorf("%s: %w", nameOf(resource), err)
		}
	}
	return nil
}

// parent returns the Gateway of the flag.
func (c *convertIngressOptions) parent() (v1.RouteParent, error) {
	namespace, name, found := strings.Cut(c.gateway, "/")
	if !found {
		namespace, name = "", c.gateway
	}
	if name == "" || strings.Contains(name, "/") {
		return v1.RouteParent{}, errors.New("set --gateway to the Gateway for the route: NAME or NAMESPACE/NAME " +
			"(kubectl get gateways --all-namespaces)")
	}
	return v1.RouteParent{Name: name, Namespace: namespace}, nil
}

// resources returns the AppServices of a file, or the one that is named.
func (c *convertIngressOptions) resources(ctx context.Context, args []string) ([]*unstructured.Unstructured, error) {
	if (c.file == "") == (len(args) == 0) {
		return nil, errors.New("name one AppService, or a file with -f FILE")
	}
	if c.file != "" {
		return c.ofFile()
	}
	one, err := c.resourceName(args[0])
	if err != nil {
		return nil, err
	}
	if one.Kind != appServices {
		return nil, fmt.Errorf("%s has no Ingress: name an AppService", one)
	}
	reader, err := c.client()
	if err != nil {
		return nil, err
	}
	resource, err := one.read(ctx, reader)
	return []*unstructured.Unstructured{resource}, err
}

// ofFile returns the AppServices of the file.
func (c *convertIngressOptions) ofFile() (list []*unstructured.Unstructured, err error) {
	text, err := c.content(c.file)
	if err != nil {
		return nil, err
	}
	documents, err := c.split(c.file, text)
	if err != nil {
		return nil, err
	}
	for _, one := range documents {
		if one.GroupVersionKind() == appServices {
			list = append(list, one.Unstructured)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there is no %s", c.file, v1.Kind)
	}
	return list, nil
}

// convert prints a resource with a route, and the differences to stderr.
func (c *convertIngressOptions) convert(resource *unstructured.Unstructured, gateway v1.RouteParent) error {
	app := &v1.AppService{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(resource.Object, app); err != nil {
		return err
	}
	spec, notes, err := ingressroute.Convert(&app.Spec, gateway)
	if err != nil {
		return err
	}
	changed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1.AppService{Spec: *spec})
	if err != nil {
		return err
	}
	out := history.SourceOf(resource.DeepCopy())
	fields, converted := out.Object["spec"].(map[string]any), changed["spec"].(map[string]any)
	for _, field := range []string{"route", "ingress", "ports"} { // the rest stays as it was written
		if value, there := converted[field]; there {
			fields[field] = value
		} else {
			delete(fields, field)
		}
	}
	printed, err := asYAMLText(out.Object)
	if err != nil {
		return err
	}
	for _, note := range notes {
		_, _ = fmt.Fprintf(c.ErrOut, "%s: %s\n", c.paint(c.ErrOut, yellow, text.Line(note.Field)), text.Line(note.Text))
	}
	_, err = c.Out.Write(printed)
	return err
}
