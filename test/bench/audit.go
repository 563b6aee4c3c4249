package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
)

// counts are numbers of requests by verb and resource, for example "create deployments".
type counts map[string]int

// audit counts requests by reading the API server's audit log as it grows.
type audit struct {
	reader  *bufio.Reader
	partial string
	users   map[string]counts
}

func openAudit(path string) (*audit, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the audit log: %w", err)
	}
	return &audit{reader: bufio.NewReaderSize(file, 1<<20), users: map[string]counts{}}, nil
}

// entry is what is read of an entry of the log.
type entry struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
	} `json:"objectRef"`
	URI string `json:"requestURI"`
}

// of returns all requests of a user until now.
func (a *audit) of(user string) (counts, error) {
	for {
		line, err := a.reader.ReadString('\n')
		a.partial += line
		if errors.Is(err, io.EOF) {
			return maps.Clone(a.users[user]), nil
		}
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal([]byte(a.partial), &e); err != nil {
			return nil, fmt.Errorf("cannot read the audit log: %w", err)
		}
		a.partial = ""
		a.note(e)
	}
}

func (a *audit) note(e entry) {
	if e.Stage == "ResponseStarted" {
		return // of a watch, which is also noted when it ends
	}
	what := e.Verb + " " + e.Object.Resource
	if e.Object.Resource == "" {
		what = e.Verb + " " + strings.Split(e.URI, "?")[0]
	}
	if e.Object.Subresource != "" {
		what += "/" + e.Object.Subresource
	}
	if e.Object.Resource == "events" && strings.Contains(e.User.Username, ":"+e.Object.Namespace+":") {
		what = e.Verb + " leases/events" // in the contender's own namespace: it reports an election
	}
	if strings.Contains(e.URI, "dryRun=") {
		what += " (dry run)"
	}
	if a.users[e.User.Username] == nil {
		a.users[e.User.Username] = counts{}
	}
	a.users[e.User.Username][what]++
}

// since returns what was added to an earlier state, without watches, leases and the events of elections.
func (c counts) since(earlier counts) counts {
	out := counts{}
	for what, count := range c {
		verb, resource, _ := strings.Cut(what, " ")
		if count > earlier[what] && verb != "watch" && !strings.HasPrefix(resource, "leases") {
			out[what] = count - earlier[what]
		}
	}
	return out
}

func (c counts) total() int {
	sum := 0
	for _, count := range c {
		sum += count
	}
	return sum
}

// writes counts the requests that may change something: not reads, dry runs, or access reviews.
func (c counts) writes() int {
	sum := 0
	for what, count := range c {
		verb, resource, _ := strings.Cut(what, " ")
		switch {
		case verb == "get", verb == "list", strings.HasSuffix(what, "(dry run)"), strings.HasSuffix(resource, "accessreviews"):
		default:
			sum += count
		}
	}
	return sum
}

// verbs sums up by verb.
func (c counts) verbs() map[string]int {
	out := map[string]int{}
	for what, count := range c {
		verb, _, _ := strings.Cut(what, " ")
		if strings.HasSuffix(what, "(dry run)") {
			verb = "dry run"
		}
		out[verb] += count
	}
	return out
}
