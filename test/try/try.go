// Package try is for programs that show or measure something step by step, and end at the first step that fails: what such a
// step calls says so once, where the steps are run, and not behind each call.
package try

import "fmt"

// failure is what a step that failed panics with. Other panics are mistakes of the program.
type failure struct{ error }

// Do ends the step if there is an error.
func Do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Fail ends the step with an error of its own.
func Fail(format string, args ...any) { Do(fmt.Errorf(format, args...)) }

// Get returns the value, unless there is an error, which ends the step.
func Get[T any](value T, err error) T {
	Do(err)
	return value
}

// Get2 is Get for two values.
func Get2[T, U any](first T, second U, err error) (T, U) {
	Do(err)
	return first, second
}

// Catch does a step, and returns the error that it ended with. The step has to do its work on the goroutine that called.
func Catch(step func()) (err error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case failure:
			err = thrown.error
		default:
			panic(thrown)
		}
	}()
	step()
	return nil
}
