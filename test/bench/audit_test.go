package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

const (
	us   = `"user":{"username":"system:serviceaccount:ours:manager"}`
	them = `"user":{"username":"system:serviceaccount:theirs:manager"}`
)

func TestAuditCountsRequests(t *testing.T) {
	cases := map[string]struct {
		log        string
		want       counts
		wantWrites int
	}{
		"a write": {
			log:  `{"stage":"ResponseComplete","verb":"create",` + us + `,"objectRef":{"resource":"services"}}`,
			want: counts{"create services": 1}, wantWrites: 1,
		},
		"the status is a resource of its own": {
			log:  `{"stage":"ResponseComplete","verb":"patch",` + us + `,"objectRef":{"resource":"appservices","subresource":"status"}}`,
			want: counts{"patch appservices/status": 1}, wantWrites: 1,
		},
		"a dry run writes nothing": {
			log:  `{"stage":"ResponseComplete","verb":"patch",` + us + `,"objectRef":{"resource":"services"},"requestURI":"/x?dryRun=All"}`,
			want: counts{"patch services (dry run)": 1},
		},
		"a question about rights writes nothing": {
			log:  `{"stage":"ResponseComplete","verb":"create",` + us + `,"objectRef":{"resource":"selfsubjectaccessreviews"}}`,
			want: counts{"create selfsubjectaccessreviews": 1},
		},
		"discovery has a path only": {
			log:  `{"stage":"ResponseComplete","verb":"get",` + us + `,"requestURI":"/apis?timeout=32s"}`,
			want: counts{"get /apis": 1},
		},
		"an event of an AppService counts": {
			log:  `{"stage":"ResponseComplete","verb":"create",` + us + `,"objectRef":{"resource":"events","namespace":"shop"}}`,
			want: counts{"create events": 1}, wantWrites: 1,
		},
		"watches, leases and events of elections do not": {
			log: `{"stage":"ResponseStarted","verb":"watch",` + us + `,"objectRef":{"resource":"services"}}` + "\n" +
				`{"stage":"ResponseComplete","verb":"watch",` + us + `,"objectRef":{"resource":"services"}}` + "\n" +
				`{"stage":"ResponseComplete","verb":"update",` + us + `,"objectRef":{"resource":"leases"}}` + "\n" +
				`{"stage":"ResponseComplete","verb":"create",` + us + `,"objectRef":{"resource":"events","namespace":"ours"}}`,
			want: counts{},
		},
		"others do not": {
			log:  `{"stage":"ResponseComplete","verb":"get",` + them + `,"objectRef":{"resource":"services"}}`,
			want: counts{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "audit.log")
			files.Write(t, file, tc.log+"\n")
			log, err := openAudit(file)
			require.NoError(t, err)
			all, err := log.of("system:serviceaccount:ours:manager")
			require.NoError(t, err)
			got := all.since(nil)
			if difference := cmp.Diff(tc.want, got); difference != "" || got.writes() != tc.wantWrites {
				t.Errorf("got %d writes, want %d; -want +got\n%s", got.writes(), tc.wantWrites, difference)
			}
		})
	}
}

// TestAuditWaitsForWholeLines: the API server may not have written the last line completely.
func TestAuditWaitsForWholeLines(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "audit.log"))
	require.NoError(t, err)
	defer file.Close()
	log, err := openAudit(file.Name())
	require.NoError(t, err)
	line := `{"stage":"ResponseComplete","verb":"get",` + us + `,"objectRef":{"resource":"services"}}` + "\n"
	for i, part := range []string{line + line[:30], line[30:]} {
		if _, err := file.WriteString(part); err != nil {
			t.Fatal(err)
		}
		got, err := log.of("system:serviceaccount:ours:manager")
		if err != nil || got.total() != i+1 {
			t.Errorf("got %d requests and error %v, want %d", got.total(), err, i+1)
		}
	}
}
