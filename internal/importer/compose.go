package importer

import (
	"context"
	"errors"
)

func (i *Importer) Compose(ctx context.Context, text []byte, o FileOptions) ([]Result, []Note, error) {
	return nil, nil, errors.New("TODO")
}
