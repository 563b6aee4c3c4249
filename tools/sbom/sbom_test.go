package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spdx/tools-golang/json"
)

// The test itself is a Go program, which is made of the two libraries.
func TestBothFormatsNameTheSameModules(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := [2]string{}
	for i := range files {
		files[i] = filepath.Join(t.TempDir(), "sbom")
		if err := run([]string{"-version", "1.2.3", "-created", "1700000000", "-out", files[i], program}); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{".spdx.json", ".cdx.json"} {
		if !bytes.Equal(content(t, files[0]+suffix), content(t, files[1]+suffix)) {
			t.Errorf("written twice, %s differs", suffix)
		}
	}

	document, err := json.Read(bytes.NewReader(content(t, files[0]+".spdx.json")))
	if err != nil {
		t.Fatal(err)
	}
	var spdx, cyclone []string
	for _, p := range document.Packages {
		spdx = append(spdx, p.PackageExternalReferences[0].Locator)
	}
	bom := &cdx.BOM{}
	if err := cdx.NewBOMDecoder(bytes.NewReader(content(t, files[0]+".cdx.json")), cdx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	cyclone = append(cyclone, bom.Metadata.Component.PackageURL)
	for _, c := range *bom.Components {
		cyclone = append(cyclone, c.PackageURL)
	}
	if !slices.Equal(spdx, cyclone) {
		t.Errorf("SPDX has %v, CycloneDX %v", spdx, cyclone)
	}
	if bom.Metadata.Timestamp != "2023-11-14T22:13:20Z" || document.CreationInfo.Created != bom.Metadata.Timestamp {
		t.Errorf("got the times %s and %s", bom.Metadata.Timestamp, document.CreationInfo.Created)
	}
	for _, wanted := range []string{"pkg:golang/github.com/cyclonedx/cyclonedx-go@v0.12.0", "pkg:golang/github.com/example/appservice-operator/tools/sbom@v1.2.3"} {
		if !slices.Contains(cyclone, wanted) {
			t.Errorf("got %v, want %s among them", cyclone, wanted)
		}
	}
}

func TestWhatIsNoProgramIsRefused(t *testing.T) {
	if err := run([]string{"-out", filepath.Join(t.TempDir(), "sbom"), "go.mod"}); err == nil {
		t.Error("go.mod is a program")
	}
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
