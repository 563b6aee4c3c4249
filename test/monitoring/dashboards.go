package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/example/appservice-operator/tools/toolchain"
)

// Query is an expression of a dashboard, Grafana's variables replaced by values.
type Query struct {
	Dashboard, Panel, Expr string
}

// String says where the query is.
func (q Query) String() string { return fmt.Sprintf("%s, panel %q", q.Dashboard, q.Panel) }

// dashboard is the part of Grafana's type that is checked.
type dashboard struct {
	UID        string  `json:"uid"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name, Type string
			Query      string `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Targets                  []struct{ Expr string }
	Panels                   []panel
}

// Dashboards lists the files of dashboards.
func Dashboards() ([]string, error) {
	root, err := toolchain.Root()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "config/grafana/*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("cannot find dashboards in config/grafana")
	}
	return files, err
}

// Queries lists the expressions of all dashboards.
func Queries() ([]Query, error) {
	files, err := Dashboards()
	if err != nil {
		return nil, err
	}
	var list []Query
	for _, file := range files {
		board, err := load(file)
		if err != nil {
			return nil, err
		}
		queries, err := board.queries(filepath.Base(file))
		if err != nil {
			return nil, err
		}
		list = append(list, queries...)
	}
	return list, nil
}

func load(file string) (*dashboard, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	board := &dashboard{}
	if err := json.Unmarshal(text, board); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", file, err)
	}
	return board, nil
}

// labelValues is what a variable asks for: the values that a label of a metric has.
var labelValues = regexp.MustCompile(`^label_values\((.+), *\w+\)$`)

func (d *dashboard) queries(file string) ([]Query, error) {
	replace := []string{"$__rate_interval", "5m"}
	var list []Query
	for _, variable := range d.Templating.List {
		if variable.Type != "query" {
			continue
		}
		replace = append(replace, "$"+variable.Name, ".*")
		match := labelValues.FindStringSubmatch(variable.Query)
		if match == nil {
			return nil, fmt.Errorf("%s: variable %s asks for %q, want label_values(metric, label)", file, variable.Name, variable.Query)
		}
		list = append(list, Query{file, "variable " + variable.Name, match[1]})
	}
	replacer := strings.NewReplacer(replace...)
	for _, panel := range d.Panels {
		if len(panel.Panels) > 0 {
			return nil, fmt.Errorf("%s: panels of row %q are hidden in it", file, panel.Title)
		}
		for _, target := range panel.Targets {
			query := Query{file, panel.Title, replacer.Replace(target.Expr)}
			if strings.Contains(query.Expr, "$") {
				return nil, fmt.Errorf("%s uses a variable that the dashboard does not have: %s", query, target.Expr)
			}
			list = append(list, query)
		}
	}
	return list, nil
}
