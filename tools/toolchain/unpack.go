package toolchain

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// unpack takes the programs out of an archive.
func unpack(archive *os.File, places map[string]string) error {
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("cannot unpack it: %w", err)
	}
	found := 0
	for files := tar.NewReader(plain); found < len(places); {
		header, err := files.Next()
		if err != nil {
			return fmt.Errorf("cannot unpack it: %d of %d programs are in it: %w", found, len(places), err)
		}
		if place, ok := places[path.Clean(header.Name)]; ok {
			if err := install(files, place); err != nil {
				return err
			}
			found++
		}
	}
	return nil
}

// install writes a program, which appears in its place once it is whole.
func install(content io.Reader, place string) error {
	partial, err := os.OpenFile(place+".partial", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	_, err = io.Copy(partial, content)
	if err := errors.Join(err, partial.Close()); err != nil {
		return err
	}
	return os.Rename(partial.Name(), place)
}
