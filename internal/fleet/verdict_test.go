package fleet

import "testing"

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		facts Facts
		want  Verdict
	}{
		"nothing is known against it":                  {Facts{MaxFailed: 3}, Open},
		"one was not rendered yet":                     {Facts{Awaited: 1, MaxFailed: 3}, Trying},
		"one was not rendered yet, though it is asked": {Facts{Awaited: 1, Asked: true}, Trying},
		"it cannot be rendered for one":                {Facts{Unfit: 1, MaxFailed: 3}, Refused},
		"nor for one, and is asked for":                {Facts{Unfit: 1, Asked: true}, Open},
		"as many failed as may":                        {Facts{Failed: 3, MaxFailed: 3}, Open},
		"one more failed":                              {Facts{Failed: 4, MaxFailed: 3}, Halted},
		"one more failed, and it is asked for":         {Facts{Failed: 4, MaxFailed: 3, Asked: true}, Open},
		"none may fail, and none does":                 {Facts{}, Open},
		"none may fail, and one does":                  {Facts{Failed: 1}, Halted},
		"it was halted, and one is ready for a moment": {Facts{Failed: 3, MaxFailed: 3, Before: Halted}, Halted},
		"it was halted, and all are ready":             {Facts{MaxFailed: 3, Before: Halted}, Open},
		"it was held back, and no reason is left":      {Facts{MaxFailed: 3, Before: Refused}, Open},
		"it fails in both ways":                        {Facts{Unfit: 1, Failed: 4, MaxFailed: 3}, Refused},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Judge(test.facts); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
