package suites

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/example/appservice-operator/tools/toolchain"
)

// vulnerabilityDatabase is the module that vuln.go.dev is made from: it comes from where all modules come from.
const vulnerabilityDatabase = "golang.org/x/vulndb@latest"

// vulnerabilities looks up those of the modules and of the standard library in the programs that are released.
func vulnerabilities(r *runner) error {
	download := r.command(command{args: words("go mod download -json " + vulnerabilityDatabase)})
	download.Dir = os.TempDir() // outside the module, whose go.sum it would write
	out, err := download.Output()
	var module struct{ Version, Dir, Error string }
	if err = errors.Join(err, json.Unmarshal(out, &module)); err != nil {
		return fmt.Errorf("cannot download %s: %w: %s", vulnerabilityDatabase, err, module.Error)
	}
	fmt.Println("database:", module.Version)
	folder, err := os.MkdirTemp("", "appservice-vuln-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := (command{args: words("go build -o " + folder + " ./cmd/...")}).run(r); err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, program := range programs {
		fmt.Println(filepath.Base(program) + ":")
		err = errors.Join(err, command{args: append(toolchain.Pinned(r.root, "govulncheck"),
			"-db=file://"+module.Dir+"/data/osv", "-mode=binary", program)}.run(r))
	}
	return err
}
