package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

const crdFile = "config/crd/bases/app.example.com_appservices.yaml"

// arrange rewrites the page that crd-ref-docs made of the Go types.
func arrange(root string) error {
	file := filepath.Join(root, folder, "appservice.md")
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rules, err := readRules(root)
	if err != nil {
		return err
	}
	examples, err := readSamples(root)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(arranged(string(old), rules, examples)), 0o644)
}

// readRules returns the messages of the rules of the CRD, each once.
func readRules(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, crdFile))
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", crdFile, err)
	}
	return messages(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, nil), nil
}

// messages appends those of the rules of a node, and of all below it.
func messages(of *apiextensionsv1.JSONSchemaProps, list []string) []string {
	for _, rule := range of.XValidations {
		if !slices.Contains(list, rule.Message) {
			list = append(list, rule.Message)
		}
	}
	for _, name := range fields.Names(of) {
		list = messages(fields.Property(of, name), list)
	}
	if of.Items != nil {
		list = messages(of.Items.Schema, list)
	}
	if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
		list = messages(of.AdditionalProperties.Schema, list)
	}
	return list
}
