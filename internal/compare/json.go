package compare

import "github.com/example/appservice-operator/internal/kube"

// Report is a diff as JSON.
type Report struct {
	Name         string              `json:"name"`
	Summary      string              `json:"summary"`
	Restarts     bool                `json:"restartsPods"`
	Refused      string              `json:"refused,omitempty"`
	Consequences []ReportConsequence `json:"consequences,omitempty"`
	Objects      []ReportObject      `json:"objects,omitempty"`
}

// ReportConsequence is an effect of the change.
type ReportConsequence struct {
	Effect string `json:"effect"`
	Text   string `json:"text"`
}

// ReportObject is an object that is created, changed or deleted.
type ReportObject struct {
	Kind   string        `json:"kind"`
	Name   string        `json:"name"`
	Change string        `json:"change"`
	Fields []ReportField `json:"fields,omitempty"`
}

// ReportField is a field that differs. Old and New are empty if they must not be printed.
type ReportField struct {
	Field    string `json:"field"`
	Old      string `json:"old,omitempty"`
	New      string `json:"new,omitempty"`
	Restarts bool   `json:"restartsPods,omitempty"`
}

// Report returns the diff as JSON has it.
func (d *Diff) Report() Report {
	r := Report{Name: d.Name, Summary: d.Summary(), Restarts: d.Restarts()}
	if d.After.Err != nil {
		r.Refused = d.After.Err.Error()
	}
	for _, consequence := range d.Consequences {
		r.Consequences = append(r.Consequences, ReportConsequence{consequence.Effect.String(), consequence.Text})
	}
	for _, change := range d.Changes {
		key := kube.KeyOf(change.Object())
		object := ReportObject{Kind: key.Kind, Name: key.Name, Change: "changed"}
		switch {
		case change.Old == nil:
			object.Change = "created"
		case change.New == nil:
			object.Change = "deleted"
		}
		for _, field := range change.Fields {
			object.Fields = append(object.Fields, ReportField{field.Field, field.Old, field.New, field.Restarts})
		}
		r.Objects = append(r.Objects, object)
	}
	return r
}
