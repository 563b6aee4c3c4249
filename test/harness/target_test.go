package harness

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTarget(t *testing.T) {
	cases := map[string]struct {
		path string
		want Target
	}{
		"an object":          {"/api/v1/namespaces/demo/services/web", Target{"demo", "services", "web", ""}},
		"a subresource":      {"/apis/app.example.com/v1/namespaces/demo/appservices/web/status", Target{"demo", "appservices", "web", "status"}},
		"a collection":       {"/api/v1/namespaces/demo/secrets", Target{"demo", "secrets", "", ""}},
		"outside namespaces": {"/apis/apps/v1/deployments", Target{"", "deployments", "", ""}},
		"a namespace":        {"/api/v1/namespaces/demo", Target{"", "namespaces", "demo", ""}},
		"the version":        {"/version", Target{}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.EqualValues(t, test.want, (Request{Path: test.path}).Target())
		})
	}
}
