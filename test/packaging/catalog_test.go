package packaging

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The catalog's channels are those of the bundle, and each ends with it as the ClusterServiceVersion says.
func TestChannels(t *testing.T) {
	bundle := csv(t)
	annotations := at[object](t, read[object](t, filepath.Join(present, "../metadata/annotations.yaml")), "annotations")
	channels := strings.Split(annotations["operators.operatorframework.io.bundle.channels.v1"].(string), ",")
	slices.Sort(channels)

	var offered []string
	for _, entry := range at[list](t, read[object](t, filepath.Join(root, "catalog/template.yaml")), "entries") {
		entry := entry.(object)
		switch entry["schema"] {
		case "olm.package":
			want := annotations["operators.operatorframework.io.bundle.channel.default.v1"]
			assert.EqualValues(t, want, entry["defaultChannel"], "the default channel is %v, want %v", entry["defaultChannel"], want)
		case "olm.channel":
			offered = append(offered, entry["name"].(string))
			versions := entry["entries"].(list)
			head := versions[len(versions)-1].(object)
			if head["name"] != bundle.GetName() || head["skipRange"] != bundle.GetAnnotations()["olm.skipRange"] ||
				head["replaces"] != at[string](t, bundle.Object, "spec", "replaces") {
				t.Errorf("channel %v ends with %v, which is not what the bundle says", entry["name"], head)
			}
		case "olm.bundle":
			at[string](t, read[object](t, filepath.Join(root, entry["image"].(string), "manifests", csvFile)), "metadata", "name")
		default:
			t.Errorf("the catalog has a %v", entry["schema"])
		}
	}
	slices.Sort(offered)
	assert.Equal(t, channels, offered, "the catalog has the channels %v, want %v", offered, channels)
}
