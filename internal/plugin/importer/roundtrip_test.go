package importer

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAnAppServiceBecomesIsImportedAsTheSame: an AppService made of rendered objects renders these again, except for differences with a note.
func TestWhatAnAppServiceBecomesIsImportedAsTheSame(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it renders thousands of times: too slow with the race detector")
	}
	i := importer(t)
	check := i.Check
	i.Check = nil // once, at the end
	all, same := 0, 0
	for name, app := range appServices(t) {
		t.Run(name, func(t *testing.T) {
			rendered, err := i.Render(t.Context(), app)
			require.NoError(t, err)
			imported, err := i.Objects(t.Context(), rendered, "")
			require.NoError(t, err)
			results, left := imported.Results, imported.Left
			if len(results) != 1 {
				t.Fatalf("got %d AppServices, want 1", len(results))
			}
			if err := check(results[0].Resource); err != nil {
				t.Errorf("the API server would refuse it: %v", err)
			}
			notes := slices.Concat(results[0].Notes, left)
			explained(t, notes)
			for _, note := range notes {
				t.Log(note)
			}
			all++
			if len(notes) == 0 {
				same++
			}
		})
	}
	t.Logf("ROUNDTRIP appservices=%d same=%d noted=%d", all, same, all-same)
}
