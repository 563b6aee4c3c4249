package olm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// patience is how long the catalog's server may take to answer.
const patience = time.Minute

// serveCatalog renders the catalog of this tree and serves it.
func (i *Instance) serveCatalog(ctx context.Context, opm string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	catalog, cache := filepath.Join(i.folder, "catalog"), "--cache-dir="+filepath.Join(i.folder, "cache")
	render := exec.CommandContext(ctx, "go", "run", "-tags=containers_image_openpgp,json1", "./render", "-root="+root,
		"catalog/template.yaml", catalog)
	render.Dir, render.Env = filepath.Join(root, "tools/pins/opm"), append(os.Environ(), "CGO_ENABLED=0")
	if output, err := render.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot render the catalog: %w: %s", err, output)
	}
	fill := exec.CommandContext(ctx, opm, "serve", catalog, cache, "--cache-only", "--pprof-addr=")
	if output, err := fill.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot fill the catalog's cache: %w: %s", err, output)
	}
	free, err := processes.FreeAddresses(1)
	if err != nil {
		return err
	}
	i.address = free[0]
	_, port, err := net.SplitHostPort(i.address)
	if err != nil {
		return err
	}
	if err := i.launch("opm", opm, "serve", catalog, cache, "--port="+port, "--pprof-addr="); err != nil {
		return err
	}
	return poll.UntilWithin(ctx, patience, func(context.Context) error {
		connection, err := net.DialTimeout("tcp", i.address, time.Second)
		if err == nil {
			err = connection.Close()
		}
		return err
	})
}

// folderOf reads the folder of the only module from what go mod download prints.
func folderOf(output []byte) (string, error) {
	var downloaded struct{ Dir, Error string }
	if err := json.Unmarshal(output, &downloaded); err != nil {
		return "", err
	}
	if downloaded.Error != "" {
		return "", errors.New(downloaded.Error)
	}
	return downloaded.Dir, nil
}
