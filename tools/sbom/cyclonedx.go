package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func writeCycloneDX(out io.Writer, s *subject) error {
	root := component(s.main)
	root.Type, root.Name, root.Version = cdx.ComponentTypeApplication, s.name, s.version
	root.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(s.sum[:])}}
	root.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	components, needs := []cdx.Component{}, []string{}
	for _, m := range s.modules {
		components = append(components, component(m))
		needs = append(needs, m.purl())
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid(s.sum)
	bom.Metadata = &cdx.Metadata{Timestamp: s.created.Format(time.RFC3339), Component: &root}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: root.BOMRef, Dependencies: &needs}}
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// uuid makes an identifier of a digest, so that the same program has the same one.
func uuid(sum [32]byte) string {
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: of whoever makes it
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func component(m module) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: m.purl(), Name: m.path, Version: m.version, PackageURL: m.purl()}
	if m.sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.sum}}
	}
	return c
}
