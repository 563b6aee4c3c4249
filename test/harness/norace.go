//go:build !race

package harness

// raceDetector says that the tests run with the race detector.
const raceDetector = false
