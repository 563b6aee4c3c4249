package release

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release/plan"
	"github.com/example/appservice-operator/internal/render"
)

// maxRecord limits the size in bytes of a release record in its Secret; the API server accepts 1 MiB.
const maxRecord = 900 << 10

// fits refuses a release whose record would be too large, before anything is written. Helm stores the manifest and the
// values, compressed and in base64.
func fits(desired *render.Result) error {
	encoded, err := json.Marshal(desired.Values)
	if err != nil {
		return fmt.Errorf("cannot encode the values: %w", err)
	}
	if desired.Size()+len(encoded) < maxRecord/2 {
		return nil // whatever the compression ratio
	}
	// the rest is for quotes, indentation and the chart's values
	if unpacked := desired.Size() + len(encoded); unpacked > maxUnpacked/2 {
		return tooLarge("the release", unpacked, maxUnpacked/2)
	}
	size := &counter{}
	if err := compress(size, []byte(desired.Manifest()), encoded); err != nil {
		return err
	}
	if letters := base64.StdEncoding.EncodedLen(size.bytes); letters > maxRecord {
		return tooLarge("the record of the release", letters, maxRecord)
	}
	return nil
}

func tooLarge(what string, bytes, most int) error {
	return &plan.RefusedError{Why: v1.ReasonTooLarge, Message: fmt.Sprintf("%s would take %d KiB, more than %d KiB: "+
		"make the spec smaller, for example keep large files in ConfigMaps of your own and mount them with spec.volumes",
		what, bytes>>10, most>>10)}
}

// counter counts written bytes.
type counter struct{ bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}
