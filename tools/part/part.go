// Package part cuts long suites in parts: PART=2/9 runs the second of nine.
package part

import (
	"fmt"
	"os"
)

// Of returns the part that PART names and how many there are, 1 of 1 without it.
func Of() (part, parts int, err error) {
	text := os.Getenv("PART")
	if text == "" {
		return 1, 1, nil
	}
	if _, err := fmt.Sscanf(text, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
		return 0, 0, fmt.Errorf("cannot use PART=%s: write 1/3 for the first of three", text)
	}
	return part, parts, nil
}

// Has reports whether the n-th of a suite's tests is in the part. Package suites has checked PART.
func Has(n int) bool {
	part, parts, err := Of()
	return err == nil && n%parts == part%parts
}
