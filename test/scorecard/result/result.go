// Package result is the form of results of scorecard tests, that of scorecard.operatorframework.io/v1alpha3.
package result

// The states of a result.
const (
	Pass  = "pass"
	Fail  = "fail"
	Error = "error"
)

// Status is what a test prints, as JSON.
type Status struct {
	Results []Result `json:"results"`
}

// Result is one verdict.
type Result struct {
	Name        string   `json:"name"`
	Log         string   `json:"log,omitempty"`
	State       string   `json:"state"`
	Errors      []string `json:"errors"`
	Suggestions []string `json:"suggestions"`
}

// Of makes a result from how a test ended.
func Of(name, log string, err error) Result {
	result := Result{Name: name, Log: log, State: Pass, Errors: []string{}, Suggestions: []string{}}
	if err != nil {
		result.State, result.Errors = Fail, append(result.Errors, err.Error())
	}
	return result
}
