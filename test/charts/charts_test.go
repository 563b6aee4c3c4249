// Package charts compares what the operator renders of charts that were written for Helm with what Helm renders: small
// ones of each sort in testdata, and the public ones of a folder.
package charts

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

var (
	folder   = flag.String("folder", "test/charts/testdata", "a folder with charts, relative to the repository")
	booleans = flag.Int("booleans", -1, "how many booleans of each chart are turned over; all if negative")
	seed     = flag.Uint64("seed", 0, "which booleans these are; 0 takes another seed each time")
	only     = flag.String("chart", "", "a regular expression of names of charts")
)

// known is what values.yaml says of a public chart.
type known struct {
	// Helm are the values without which Helm itself does not render it.
	Helm map[string]any `json:"helm"`
	// Value are those without which the operator does not, though Helm does.
	Value map[string]any `json:"value"`
	// Announced is a part of the message with which the operator refuses the chart, as the documentation announces.
	Announced string `json:"announced"`
}

// TestPublicChartsRenderAsHelm compares the charts of a folder: the work of others, and not in the repository.
func TestPublicChartsRenderAsHelm(t *testing.T) {
	log.SetOutput(io.Discard) // Helm warns of values that do not fit each other
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	if !filepath.IsAbs(*folder) {
		*folder = filepath.Join(files.Root(t), *folder)
	}
	names, err := chartsIn(*folder)
	require.NoError(t, err)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	if *booleans >= 0 {
		fmt.Printf("SEED seed=%d\n", *seed)
	}
	table := map[string]known{}
	files.Into(t, filepath.Join("test", "charts", "values.yaml"), &table)
	selected, err := regexp.Compile(*only)
	require.NoError(t, err)
	sum := &tally{named: map[string]int{}, grounds: map[string]int{}, refusals: map[string]int{}}
	t.Run("charts", func(t *testing.T) {
		for _, name := range names {
			if !selected.MatchString(name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, err := load(*folder, name)
				require.NoError(t, err)
				major, _, _ := strings.Cut(strings.TrimPrefix(s.helm.Metadata.Version, "v"), ".")
				knows := table[s.helm.Name()+"-"+major]
				if knows.Value == nil && knows.Announced == "" {
					if knows.Value = s.follow(t, knows.Helm); knows.Value != nil {
						fmt.Printf("ADVISED %s: %v\n", s.helm.Name(), knows.Value)
					}
				}
				outcomes := s.outcomes(t, knows)
				if len(outcomes) == 0 {
					_, err := s.expect(set{values: knows.Helm})
					fmt.Printf("CHART %s: Helm renders no set of values: %v\n", s.helm.Name(), err)
					return
				}
				line, silent := sum.add(s.helm.Name(), s, knows, outcomes)
				fmt.Println(line)
				for _, text := range slices.Sorted(maps.Keys(silent)) {
					t.Errorf("without a reason, in %d sets, %s first: %s", len(silent[text]), silent[text][0], text)
				}
				knows.check(t, outcomes)
			})
		}
	})
	sum.print()
	require.NotZero(t, sum.charts, "no chart is in %s", *folder)
}

// check fails for what values.yaml says and what is not so any more.
func (k known) check(t *testing.T, outcomes []outcome) {
	defaults := outcomes[0]
	if k.Value != nil {
		assert.True(t, defaults.withValue, "the value of values.yaml is needless: the chart renders without it")
		assert.NoError(t, defaults.refused, "the value of values.yaml does not help")
	}
	if k.Announced != "" {
		assert.ErrorContains(t, defaults.refused, k.Announced)
	}
}
