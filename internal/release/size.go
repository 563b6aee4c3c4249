package release

import (
	"encoding/json"
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/render"
)

// maxRecord is how many bytes the record of a release may take in its Secret, of which the API server takes 1 MiB.
const maxRecord = 900 << 10

// fits refuses a release whose record would be too large, before anything is written. Helm keeps the manifest and the
// values, compressed and in base64.
func fits(desired *render.Result) error {
	manifest, err := desired.Manifest()
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(desired.Values)
	if err != nil {
		return fmt.Errorf("cannot encode the values: %w", err)
	}
	if len(manifest)+len(encoded) < maxRecord/2 {
		return nil // however badly it compresses
	}
	if unpacked := len(manifest) + len(encoded); unpacked > maxUnpacked*3/4 { // the rest is for quotes and the chart's values
		return tooLarge("the release", unpacked, maxUnpacked*3/4)
	}
	size := &counter{}
	if err := compress(size, []byte(manifest), encoded); err != nil {
		return err
	}
	if size.bytes <= maxRecord {
		return nil
	}
	return tooLarge("the record of the release", size.bytes, maxRecord)
}

func tooLarge(what string, bytes, most int) error {
	return &RefusedError{reason: v1.ReasonTooLarge, message: fmt.Sprintf("%s would take %d KiB, more than %d KiB: "+
		"make the spec smaller, for example keep large files in ConfigMaps of your own and mount them with spec.volumes", what, bytes>>10, most>>10)}
}

// counter counts what is written.
type counter struct{ bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}
