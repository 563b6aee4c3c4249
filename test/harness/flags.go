package harness

import "flag"

// AllTests reports whether no flag of the test program leaves tests out.
func AllTests() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}
