package translate

import (
	"errors"
	"fmt"
	"regexp"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// named returns an error for a name that a resource cannot have.
func (a *Application) named() error {
	most := longestName[a.Kind()]
	switch {
	case a.Name == "":
		return errors.New("metadata.name is missing: choose one by --name")
	case len(a.Name) > most:
		return fmt.Errorf("metadata.name: %s has %d characters, and that of an %s has at most %d: choose another by --name",
			a.Name, len(a.Name), a.Kind(), most)
	case !dnsLabel.MatchString(a.Name):
		return fmt.Errorf("metadata.name: %s is not a name of an %s, which begins with a small letter, and has small letters, "+
			"digits and - only: choose another by --name", a.Name, a.Kind())
	}
	return nil
}

var (
	longestName = map[string]int{v1.Kind: 53, read.JobKind: 52}
	dnsLabel    = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
)
