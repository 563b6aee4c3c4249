package render

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// bounded returns the functions that produce texts or lists, wrapped to count their output. Functions whose output grows with a numeric
// argument are checked before they run.
func (w *work) bounded(all template.FuncMap) template.FuncMap {
	out := template.FuncMap{
		"print":   func(args ...any) (string, error) { return w.text(fmt.Sprint(args...)) },
		"printf":  func(format string, args ...any) (string, error) { return w.text(fmt.Sprintf(format, args...)) },
		"println": func(args ...any) (string, error) { return w.text(fmt.Sprintln(args...)) },
	}
	for name, function := range all {
		if name == "getHostByName" || name == "fail" {
			continue // they belong to Helm's engine
		}
		if counted := w.counted(function); counted != nil {
			out[name] = counted
		}
	}
	w.sized(all, out)
	dated(all, out)
	return out
}

func (w *work) text(text string) (string, error) { return text, w.take(len(text)) }

func (w *work) list(list []any) ([]any, error) { return list, w.take(16 * len(list)) }

// counted returns a function that counts its output; nil for a function whose output is never larger than its input.
func (w *work) counted(function any) any {
	switch f := function.(type) {
	case func(string) string:
		return func(a string) (string, error) { return w.text(f(a)) }
	case func(any) string:
		return func(a any) (string, error) { return w.text(f(a)) }
	case func(...any) string:
		return func(a ...any) (string, error) { return w.text(f(a...)) }
	case func(string, any) string:
		return func(a string, b any) (string, error) { return w.text(f(a, b)) }
	case func(int, string, string) string:
		return func(a int, b, c string) (string, error) { return w.text(f(a, b, c)) }
	case func(string, string, string) string:
		return func(a, b, c string) (string, error) { return w.text(f(a, b, c)) }
	case func(string, string, string) (string, error):
		return func(a, b, c string) (string, error) {
			text, err := f(a, b, c)
			return text, errors.Join(err, w.take(len(text)))
		}
	case func(any) (string, error):
		return func(a any) (string, error) {
			text, err := f(a)
			return text, errors.Join(err, w.take(len(text)))
		}
	case func(...any) []any:
		return func(a ...any) ([]any, error) { return w.list(f(a...)) }
	case func(any, any) []any:
		return func(a, b any) ([]any, error) { return w.list(f(a, b)) }
	case func(any, any) ([]any, error):
		return func(a, b any) ([]any, error) {
			list, err := f(a, b)
			return list, errors.Join(err, w.take(16*len(list)))
		}
	case func(...any) any: // concat
		return func(a ...any) (any, error) {
			made := f(a...)
			if list, isList := made.([]any); isList {
				return w.list(list)
			}
			return made, w.exceeded
		}
	}
	return nil
}

// sized adds to out the functions whose output grows with a numeric argument.
func (w *work) sized(all, out template.FuncMap) {
	if f, is := all["until"].(func(int) []int); is {
		out["until"] = func(n int) ([]int, error) {
			if err := w.take(8 * bound(n)); err != nil {
				return nil, err
			}
			return f(n), nil
		}
	}
	if f, is := all["untilStep"].(func(int, int, int) []int); is {
		out["untilStep"] = func(start, stop, step int) ([]int, error) {
			if step != 0 {
				if err := w.take(8 * bound((stop-start)/step)); err != nil {
					return nil, err
				}
			}
			return f(start, stop, step), nil
		}
	}
	if f, is := all["seq"].(func(...int) string); is {
		out["seq"] = func(args ...int) (string, error) {
			for _, n := range args {
				if err := w.take(8 * bound(n)); err != nil {
					return "", err
				}
			}
			return w.text(f(args...))
		}
	}
	for name, times := range map[string]func(text string) int{
		"repeat":  func(text string) int { return len(text) },
		"indent":  func(text string) int { return 1 + strings.Count(text, "\n") },
		"nindent": func(text string) int { return 1 + strings.Count(text, "\n") },
	} {
		if f, is := all[name].(func(int, string) string); is {
			out[name] = func(n int, text string) (string, error) {
				if err := w.take(bound(n)*max(1, times(text)) + len(text)); err != nil {
					return "", err
				}
				return f(n, text), nil
			}
		}
	}
}

// bound returns the size of a number, small enough to be multiplied.
func bound(n int) int { return min(max(n, -n, 0), 1<<30) }

// dated adds to out the functions that format a time, which in Helm use the current time for anything that is not a time.
func dated(all, out template.FuncMap) {
	if f, is := all["date"].(func(string, any) string); is {
		out["date"] = func(layout string, at any) (string, error) { return f(layout, at), timed(at) }
	}
	if f, is := all["htmlDate"].(func(any) string); is {
		out["htmlDate"] = func(at any) (string, error) { return f(at), timed(at) }
	}
	if f, is := all["htmlDateInZone"].(func(any, string) string); is {
		out["htmlDateInZone"] = func(at any, zone string) (string, error) { return f(at, zone), timed(at) }
	}
	for _, name := range []string{"dateInZone", "date_in_zone"} {
		if f, is := all[name].(func(string, any, string) string); is {
			out[name] = func(layout string, at any, zone string) (string, error) { return f(layout, at, zone), timed(at) }
		}
	}
	if f, is := all["durationRound"].(func(any) string); is {
		out["durationRound"] = func(length any) (string, error) {
			if _, isTime := length.(time.Time); isTime {
				return "", errors.New("it would take the time since then, which is another in each render: give it a duration")
			}
			return f(length), nil
		}
	}
}

// timed returns an error for a value that is not a time.
func timed(at any) error {
	switch at.(type) {
	case time.Time, *time.Time, int, int32, int64:
		return nil
	}
	return fmt.Errorf("%T is not a time, so it would print the present one, which is another in each render: use toDate, or int64 for seconds", at)
}
