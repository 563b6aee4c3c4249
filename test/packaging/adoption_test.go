package packaging

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Whoever asks for adoption needs the right to update each kind that is adopted, and no other.
func TestThePolicyForAdoptionAsksAboutEachKind(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "admission", "adoption.yaml"))
	require.NoError(t, err)
	var asked, want []string
	for _, match := range regexp.MustCompile(`\['([^']*)', '([a-z]*s)'\]`).FindAllStringSubmatch(string(text), -1) {
		asked = append(asked, fmt.Sprintf("%s/%s", match[1], match[2]))
	}
	for kind := range scheme.Scheme.AllKnownTypes() {
		if kube.TraitsOf(kind.GroupKind()).Adoptable {
			resource, _ := meta.UnsafeGuessKindToResource(kind)
			want = append(want, fmt.Sprintf("%s/%s", kind.Group, resource.Resource))
		}
	}
	slices.Sort(asked)
	slices.Sort(want)
	want = slices.Compact(want) // kinds of several versions
	assert.Equal(t, want, asked, "the policy asks about %s, and adopted are %s", strings.Join(asked, " "), strings.Join(want, " "))
}
