package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const unknown = "NOASSERTION"

func writeSPDX(out io.Writer, s *subject) error {
	root := pack("program", s.main)
	root.PackageName, root.PackageVersion, root.PrimaryPackagePurpose = s.name, s.version, "APPLICATION"
	root.PackageLicenseDeclared, root.PackageLicenseConcluded = "Apache-2.0", "Apache-2.0"
	root.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: hex.EncodeToString(s.sum[:])}}
	document := &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: s.name + "-" + s.version,
		DocumentNamespace: fmt.Sprintf("https://example.com/spdx/%s-%s-%x", s.name, s.version, s.sum[:16]),
		CreationInfo: &v2_3.CreationInfo{
			Created: s.created.Format(time.RFC3339), Creators: []common.Creator{{CreatorType: "Tool", Creator: "appservice-operator-sbom"}},
		},
		Packages:      []*v2_3.Package{root},
		Relationships: []*v2_3.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, "program")},
	}
	for i, m := range s.modules {
		id := fmt.Sprintf("module-%d", i)
		document.Packages = append(document.Packages, pack(id, m))
		document.Relationships = append(document.Relationships, relation("program", common.TypeRelationshipContains, id))
	}
	return json.Write(document, out, json.Indent("  "))
}

func pack(id string, m module) *v2_3.Package {
	p := &v2_3.Package{
		PackageName: m.path, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: m.version,
		PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageLicenseDeclared: unknown, PackageCopyrightText: unknown,
		PackageExternalReferences: []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: m.purl()}},
	}
	if m.sum != "" {
		p.PackageComment = "go.sum: " + m.sum
	}
	return p
}

func relation(from, kind, to string) *v2_3.Relationship {
	return &v2_3.Relationship{
		RefA: common.MakeDocElementID("", from), RefB: common.MakeDocElementID("", to), Relationship: kind,
	}
}
