package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example/appservice-operator/internal/plugin"
)

// commandLine writes the reference of kubectl appservice: all commands on one page.
func commandLine(root string) error {
	// Defaults that depend on the machine, such as the folder of caches, are not for the page.
	for name, value := range map[string]string{"HOME": "$HOME", "KUBECACHEDIR": "", "KUBECONFIG": ""} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	command := plugin.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
	text, err := commandPage(command)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, folder, "cli.md"), []byte(text), 0o644)
}

func commandPage(root *cobra.Command) (string, error) {
	out := "# kubectl appservice\n\n<!-- Generated from internal/plugin by make generate. Do not edit. -->\n\n"
	section, err := commandSection(root)
	if err != nil {
		return "", err
	}
	_, section, _ = strings.Cut(section, "\n\n") // its heading is that of the page
	out += section
	for _, command := range documented(root) {
		section, err := commandSection(command)
		if err != nil {
			return "", err
		}
		out += "\n" + section
	}
	return strings.TrimSuffix(out, "\n") + "\n", nil
}

// documented are the commands below one, those of cobra for shells excepted.
func documented(root *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() && command.Name() != "completion" {
			list = append(append(list, command), documented(command)...)
		}
	}
	return list
}

// commandSection is the section of a command: without the options that all commands have, and links that one page does not need.
func commandSection(command *cobra.Command) (string, error) {
	command.DisableAutoGenTag = true
	var out bytes.Buffer
	if err := doc.GenMarkdownCustom(command, &out, func(string) string { return "" }); err != nil {
		return "", err
	}
	text, _, _ := strings.Cut(out.String(), "### SEE ALSO")
	text, _, _ = strings.Cut(text, "### Options inherited from parent commands")
	return strings.TrimRight(text, "\n") + "\n", nil
}
