package release

import (
	"encoding/json"
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// maxRecord limits the content in bytes of the Secret of a release record; the API server accepts 1 MiB. The rest is
// for runs of Jobs, which are noted while the release is applied.
const maxRecord = 1020 << 10

// fits refuses a release whose record would be too large, before anything is written.
func fits(task Task) error {
	values, err := json.Marshal(task.Desired.Values)
	if err != nil {
		return fmt.Errorf("cannot encode the values: %w", err)
	}
	unpacked := task.Desired.Size() + len(values)
	if unpacked < maxRecord/4 {
		return nil // whatever the compression ratio, with the largest spec
	}
	// the rest is for quotes, indentation and the chart's values
	if unpacked > maxUnpacked/2 {
		return tooLarge("the release", unpacked, maxUnpacked/2)
	}
	secret, err := (&records{owner: task.Owner}).secret(task, 1)
	if err != nil {
		return err
	}
	size := 0
	for _, content := range secret.Data {
		size += len(content)
	}
	if size > maxRecord {
		return tooLarge("the record of the release", size, maxRecord)
	}
	return nil
}

func tooLarge(what string, bytes, most int) error {
	return &plan.RefusedError{Why: v1.ReasonTooLarge, Message: fmt.Sprintf("%s would take %d KiB, more than %d KiB: "+
		"make the spec smaller, for example keep large files in ConfigMaps of your own and mount them with spec.volumes",
		what, bytes>>10, most>>10)}
}
