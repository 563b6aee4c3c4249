package kinds

import (
	"os"
	"path/filepath"

	"github.com/example/appservice-operator/tools/references"
)

// guards is the folder of the admission policies.
const guards = "config/admission"

// guard makes the admission policies of a kind, and the link of the chart that installs the operator.
func (k kind) guard(root string) error {
	text, err := references.Policies(root, k.crd)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, guards, k.name()+".yaml"), []byte(text), 0o644); err != nil {
		return err
	}
	return link(root, filepath.Join("config/chart/files/admission", k.name()+".yaml"), "../../../admission/"+k.name()+".yaml")
}
