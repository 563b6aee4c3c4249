package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRoundsHaveAMedian(t *testing.T) {
	t.Setenv("ROUNDS", "2")
	_, err := fromEnvironment()
	assert.ErrorContains(t, err, "ROUNDS=2: must be an odd number")
}

func TestOnlyCompleteRunsThatAreAskedForChangeTheDocs(t *testing.T) {
	cases := map[string]struct {
		environment map[string]string
		folder      string // empty where it is refused
	}{
		"a complete run":                        {nil, "/repo/bin/bench"},
		"a complete run that is to be kept":     {map[string]string{"DOCS": "1"}, "/repo/docs"},
		"part of a run":                         {map[string]string{"CONTENDERS": "a,b,e"}, "/repo/bin/bench"},
		"part of a run that is to be kept":      {map[string]string{"CONTENDERS": "abe", "DOCS": "1"}, ""},
		"a run with policies":                   {map[string]string{"ADMISSION": "1", "DOCS": "1"}, ""},
		"a run without drift":                   {map[string]string{"SKIP": "drift", "DOCS": "1"}, ""},
		"a small run that is to be kept":        {map[string]string{"N": "50", "DOCS": "1"}, ""},
		"a run with pods":                       {map[string]string{"PODS": "1", "DOCS": "1"}, ""},
		"one round that is to be kept":          {map[string]string{"ROUNDS": "1", "DOCS": "1"}, ""},
		"a profile":                             {map[string]string{"PROFILE": "1", "DOCS": "1"}, ""},
		"a run that is to be kept elsewhere":    {map[string]string{"OUT": "/tmp/x"}, "/tmp/x"},
		"a complete run with reused contenders": {map[string]string{"REUSE": "x.json", "DOCS": "1"}, "/repo/docs"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"N", "CONTENDERS", "SKIP", "ROUNDS", "OUT", "DOCS", "REUSE", "PROFILE", "ADMISSION", "PODS"} {
				t.Setenv(variable, tc.environment[variable])
			}
			settings, err := fromEnvironment()
			if tc.folder == "" {
				assert.ErrorContains(t, err, "DOCS", "got error %v, want that DOCS is refused", err)
				return
			}
			require.NoError(t, err)
			assert.EqualValues(t, tc.folder, (&bench{settings: settings, root: "/repo"}).outFolder())
		})
	}
}
