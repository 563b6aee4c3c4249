package diagnose

import (
	"fmt"
)

// restarted describes restarts in steps, so that the message does not change with each.
func restarted(count int32) string {
	for _, step := range []int32{100, 20, 5} {
		if count > step {
			return fmt.Sprintf("restarted more than %d times", step)
		}
	}
	return ""
}
