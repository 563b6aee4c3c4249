package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// platform is one that the program is built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the name of the program's file.
func (p platform) program() string {
	if p.os == "windows" {
		return "kubectl-appservice.exe"
	}
	return "kubectl-appservice"
}

// file is the name of the archive.
func (p platform) file(version string) string {
	extension := "tar.gz"
	if p.os == "windows" {
		extension = "zip"
	}
	return fmt.Sprintf("kubectl-appservice_%s_%s_%s.%s", version, p.os, p.arch, extension)
}

// entry is a file of an archive.
type entry struct {
	name    string
	content []byte
	mode    int64
}

// complete is the name of the script by which kubectl completes the arguments of "kubectl appservice".
const complete = "kubectl_complete-appservice"

// archive packs the program, its license and, for shells that can run it, the script for completion.
func (p platform) archive(root string, program []byte) ([]byte, error) {
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	entries := []entry{{"LICENSE", license, 0o644}, {p.program(), program, 0o755}}
	if p.os == "windows" {
		return zipped(entries)
	}
	script, err := os.ReadFile(filepath.Join(root, "cmd/kubectl-appservice", complete))
	if err != nil {
		return nil, err
	}
	return tarred(append(entries, entry{complete, script, 0o755}))
}

// tarred and zipped omit times and owners: the same files make the same archive.
func tarred(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	for _, e := range entries {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err := packed.Close()
	return out.Bytes(), err
}

func zipped(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(os.FileMode(e.mode))
		file, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}

func sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// checksums is a file for sha256sum --check.
func checksums(of []platform, sums map[platform]string, version string) []byte {
	var out bytes.Buffer
	for _, p := range of {
		fmt.Fprintf(&out, "%s  %s\n", sums[p], p.file(version))
	}
	return out.Bytes()
}
