package kube_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// counted counts what is asked for.
type counted struct {
	client.Reader
	asked int
}

func (c *counted) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	c.asked++
	return nil
}

func TestNamesThatLeadElsewhereAreNotAskedFor(t *testing.T) {
	cases := map[string]struct {
		namespace, name string
		asked           bool
	}{
		"a name":                        {"shop", "db", true},
		"a name with dots":              {"shop", "db.example.com", true},
		"outside of namespaces":         {"", "nginx", true},
		"a path to another namespace":   {"shop", "../../other/secrets/db", false},
		"the folder above":              {"shop", "..", false},
		"a slash":                       {"shop", "db/status", false},
		"a percent sign":                {"shop", "db%2fstatus", false},
		"no name":                       {"shop", "", false},
		"a namespace that leads upward": {"../nodes", "db", false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			reader := &counted{}
			err := kube.Named(reader).Get(t.Context(), client.ObjectKey{Namespace: test.namespace, Name: test.name}, kube.Metadata(kube.SecretKind))
			if asked := reader.asked > 0; asked != test.asked || asked == apierrors.IsNotFound(err) {
				t.Errorf("asked %t, error %v; want asked %t, else that nothing is there", asked, err, test.asked)
			}
		})
	}
}
