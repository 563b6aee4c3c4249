package lint

import (
	"io"
	"path"

	"github.com/example/appservice-operator/internal/version"
)

// The subset of SARIF 2.1.0 in use: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. All of its types would be ten times as much code.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		HelpURI          string       `json:"helpUri"`
		Configuration    struct {
			Level Level `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     Level           `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

func printSARIF(out io.Writer, reports []Report) error {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "kubectl-appservice", Version: version.Version, InformationURI: page}},
		Results: []sarifResult{},
	}
	index := map[string]int{}
	for i, rule := range Rules {
		described := sarifRule{ID: rule.ID, ShortDescription: sarifMessage{rule.Title}, HelpURI: rule.Help()}
		described.Configuration.Level = rule.Level
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, described)
		index[rule.ID] = i
	}
	for _, report := range reports {
		for _, f := range report.Findings {
			var where sarifLocation
			where.Physical.Artifact.URI = path.Join(report.Dir, f.File)
			if f.Line > 0 {
				where.Physical.Region = &sarifRegion{f.Line, f.Column}
			}
			said := sarifMessage{f.said()}
			run.Results = append(run.Results, sarifResult{f.ID, index[f.ID], f.Level, said, []sarifLocation{where}})
		}
	}
	return encode(out, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}
