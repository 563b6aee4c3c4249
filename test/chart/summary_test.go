//go:build cluster

package chart

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// keys are what the last line of a run names, in its order.
var keys = []string{"fields_without_go", "kind_without_go", "broken", "named", "fleet_untouched", "reload_ms"}

// shown is the last line of this run.
var shown summary

type summary struct {
	mutex  sync.Mutex
	values map[string]string
}

// show records a value for the last line of the run. A test calls it once it has passed.
func show(key, value string) {
	shown.set(key, value)
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

// line is the last line of the run. A part that was not shown has the value "-".
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

// missing lists what was not shown: a complete run without all of it fails.
func (s *summary) missing() (list []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, key := range keys {
		if s.values[key] == "" {
			list = append(list, key)
		}
	}
	return list
}

func TestTheLastLineNamesWhatWasShown(t *testing.T) {
	var s summary
	for _, key := range keys[1:] {
		s.set(key, "1")
	}
	if got := s.missing(); !slices.Equal(got, keys[:1]) {
		t.Errorf("%v are missing", got)
	}
	if got := s.line(); !strings.HasPrefix(got, "CHART fields_without_go=- ") || !strings.HasSuffix(got, " reload_ms=1") {
		t.Errorf("got %q", got)
	}
	s.set(keys[0], "ok")
	assert.Empty(t, s.missing())
}
