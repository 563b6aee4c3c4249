package chart

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// keys are what the last line of a run names, in its order.
var keys = []string{"fields_without_go", "kind_without_go", "broken", "named", "fleet_untouched", "reload_ms"}

// shown is the last line of this run.
var shown summary

type summary struct {
	mutex  sync.Mutex
	wanted []string
	values map[string]string
}

// shows declares that the tests of a file show these values, as in `func init() { shows("broken", "named") }`: a complete run in which one
// of them was not shown fails.
func shows(keys ...string) { shown.want(keys...) }

// show notes a value for the last line of the run. A test calls it once it has passed.
func show(key, value string) {
	shown.set(key, value)
}

func (s *summary) want(wanted ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.wanted = append(s.wanted, wanted...)
}

func (s *summary) set(key, value string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !slices.Contains(keys, key) {
		panic("the last line has no " + key)
	}
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[key] = value
}

// line is the last line of the run. What was not shown has the value "-".
func (s *summary) line() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	line := "CHART"
	for _, key := range keys {
		value := s.values[key]
		if value == "" {
			value = "-"
		}
		line += fmt.Sprintf(" %s=%s", key, value)
	}
	return line
}

func (s *summary) missing() (keys []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, key := range s.wanted {
		if s.values[key] == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestTheLastLineNamesWhatWasShown(t *testing.T) {
	var s summary
	s.want("broken", "named")
	s.set("named", "20")
	if got := s.missing(); !slices.Equal(got, []string{"broken"}) {
		t.Errorf("%v are missing", got)
	}
	if got := s.line(); !strings.HasPrefix(got, "CHART ") || !strings.Contains(got, " broken=- named=20 ") {
		t.Errorf("got %q", got)
	}
	s.set("broken", "20")
	if got := s.missing(); len(got) > 0 {
		t.Errorf("%v are missing", got)
	}
}
