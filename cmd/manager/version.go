package main

import (
	"fmt"
	"io"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/internal/version"
)

// printVersion prints which program this is, and what it would serve.
func printVersion(out io.Writer, options operator.Options) error {
	line := operator.Name + " " + version.OfModule()
	if commit := version.Commit(); commit != "" {
		line += ", commit " + commit
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return err
	}
	return printServed(out, options, "")
}

// printServed prints the charts of all kinds, then the last line if there is one.
func printServed(out io.Writer, options operator.Options, last string) error {
	lines, err := options.Served()
	if err != nil {
		return err
	}
	if last != "" {
		lines = append(lines, last)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, text.Line(line)); err != nil {
			return err
		}
	}
	return nil
}
