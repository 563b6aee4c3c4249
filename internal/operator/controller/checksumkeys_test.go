package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
)

// An operator takes over the key that another one wrote first, and restores one that was changed.
func TestWhichKeyCounts(t *testing.T) {
	live, own := strings.Repeat("1", 32), strings.Repeat("2", 32)
	secret := kube.Metadata(kube.SecretKind)
	secret.Name, secret.Annotations = "web", map[string]string{v1.AnnotationChecksumKey: live}
	known := &rendered{facts: postrender.Facts{Keys: map[string]string{"web": own, "gone": own}}, outline: render.Outline{Digest: "d"}}
	for name, test := range map[string]struct {
		known  *rendered
		record *livestate.Record
		want   map[string]string
	}{
		"nothing is known":              {nil, nil, map[string]string{"web": live}},
		"nothing is recorded":           {known, nil, map[string]string{"web": live, "gone": own}},
		"another release is recorded":   {known, &livestate.Record{Digest: "e"}, map[string]string{"web": live, "gone": own}},
		"the known release is recorded": {known, &livestate.Record{Digest: "d"}, map[string]string{"web": own, "gone": own}},
	} {
		t.Run(name, func(t *testing.T) {
			there := &livestate.Snapshot{Objects: map[kube.Key]client.Object{secretKey("web"): secret}, Record: test.record}
			require.Equal(t, test.want, knownKeys(test.known, there))
		})
	}
}
