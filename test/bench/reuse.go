package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// peers are the contenders whose results may be those of an earlier run: no change here affects them, and they take most of
// the time. The others are compared within one run.
const peers = "cd"

// earlier reads what may be reused of an earlier run, by letter. The error says what makes the two runs incomparable.
func (b *bench) earlier(here Machine) (map[string]*Result, error) {
	if b.reuse == "" {
		return nil, nil
	}
	data, err := os.ReadFile(b.reuse)
	if err != nil {
		return nil, fmt.Errorf("cannot read REUSE: %w", err)
	}
	results := &Results{}
	if err := json.Unmarshal(data, results); err != nil {
		return nil, fmt.Errorf("cannot use REUSE=%s: %w", b.reuse, err)
	}
	switch {
	case !here.like(results.Machine):
		return nil, fmt.Errorf("cannot use REUSE=%s: it was made on %s, this is %s", b.reuse, results.Machine, here)
	case results.N != b.n || results.Objects != objectsEach:
		return nil, fmt.Errorf("cannot use REUSE=%s: it has %d AppServices of %d objects, this run %d of %d", b.reuse, results.N, results.Objects, b.n, objectsEach)
	}
	found := map[string]*Result{}
	for _, result := range results.Contenders {
		if strings.Contains(peers, result.Letter) && strings.Contains(b.letters, result.Letter) {
			if result.Reused == "" {
				result.Reused = results.Date
			}
			found[result.Letter] = result
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("cannot use REUSE=%s: it has no results of the stock peers that take part", b.reuse)
	}
	return found, nil
}
