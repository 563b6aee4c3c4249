package main

import (
	"bytes"
	_ "embed"
	"text/template"
)

// krew is the manifest by which krew installs the program, as a template.
//
//go:embed krew.yaml
var krew string

// place is what the manifest says of a platform.
type place struct{ OS, Arch, URI, SHA256, Program string }

// releases is where the archives of a version are published.
const releases = "https://github.com/example/appservice-operator/releases/download/v"

// manifest fills in version and checksums.
func manifest(version string, sums map[platform]string) ([]byte, error) {
	parsed, err := template.New("krew.yaml").Option("missingkey=error").Parse(krew)
	if err != nil {
		return nil, err
	}
	data := struct {
		Version string
		Places  []place
	}{Version: version}
	for _, p := range platforms {
		data.Places = append(data.Places, place{p.os, p.arch, releases + version + "/" + p.file(version), sums[p], p.program()})
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, data)
	return out.Bytes(), err
}
