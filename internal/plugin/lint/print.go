package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
)

// Report contains the findings of one chart.
type Report struct {
	// Dir is the chart's folder, which is prepended to the files of findings.
	Dir      string
	Findings []Finding
}

// Formats are the formats of Print.
var Formats = []string{"text", "json", "github"}

// Print writes reports in one of the formats.
func Print(out io.Writer, format string, reports []Report) error {
	var list []Finding
	for _, report := range reports {
		for _, found := range report.Findings {
			found.File = path.Join(report.Dir, found.File)
			list = append(list, found)
		}
	}
	switch format {
	case "text":
		return printText(out, list)
	case "json":
		return printJSON(out, list)
	case "github":
		return printGitHub(out, list)
	}
	return fmt.Errorf("-o %s: it can be %s", format, strings.Join(Formats, ", "))
}

func printText(out io.Writer, list []Finding) error {
	for _, found := range list {
		if _, err := fmt.Fprintln(out, found); err != nil {
			return err
		}
	}
	return nil
}

// finding is a Finding as JSON.
type finding struct {
	Rule    string   `json:"rule"`
	Level   Level    `json:"level"`
	File    string   `json:"file"`
	Line    int      `json:"line,omitempty"`
	Column  int      `json:"column,omitempty"`
	Message string   `json:"message"`
	Remedy  string   `json:"remedy,omitempty"`
	Cases   []string `json:"cases,omitempty"`
	Help    string   `json:"help"`
}

func printJSON(out io.Writer, list []Finding) error {
	shown := []finding{}
	for _, f := range list {
		shown = append(shown, finding{
			Rule: f.ID, Level: f.Level, File: f.File, Line: f.Line, Column: f.Column,
			Message: f.Message, Remedy: f.Remedy, Cases: f.Cases, Help: f.Help(),
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"findings": shown})
}

// ofMessage and ofProperty escape text for GitHub's workflow commands.
var (
	ofMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ofProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// printGitHub writes GitHub workflow commands, which annotate lines of a pull request.
func printGitHub(out io.Writer, list []Finding) error {
	for _, f := range list {
		place := "file=" + ofProperty.Replace(f.File)
		if f.Line > 0 {
			place += fmt.Sprintf(",line=%d", f.Line)
		}
		if f.Line > 0 && f.Column > 0 {
			place += fmt.Sprintf(",col=%d", f.Column)
		}
		title, text := ofProperty.Replace(f.ID), ofMessage.Replace(f.messageWithRemedy())
		if _, err := fmt.Fprintf(out, "::%s %s,title=%s::%s\n", f.Level, place, title, text); err != nil {
			return err
		}
	}
	return nil
}

// messageWithRemedy returns the message with the remedy.
func (f Finding) messageWithRemedy() string {
	if f.Remedy == "" {
		return f.Message
	}
	return f.Message + "; " + f.Remedy
}
