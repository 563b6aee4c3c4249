package render

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"text/template"
	"time"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// growing are the functions that can make much of little: what they make is counted.
var growing = strings.Fields(`print printf println html js urlquery quote squote cat join replace wrapWith toString toStrings
	b64enc b32enc regexQuoteMeta regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral
	regexFindAll mustRegexFindAll regexSplit mustRegexSplit splitList until untilStep seq repeat indent nindent
	toYaml toYamlPretty toToml toJson mustToJson toPrettyJson mustToPrettyJson toRawJson mustToRawJson
	list tuple append push mustAppend mustPush prepend mustPrepend concat`)

// sizes tell from the arguments of a function what it would make, in bytes.
var sizes = map[string]func(args []reflect.Value) float64{
	"until": func(args []reflect.Value) float64 { return 8 * math.Abs(integer(args[0])) },
	"untilStep": func(args []reflect.Value) float64 {
		first, last, step := integer(args[0]), integer(args[1]), integer(args[2])
		if math.Abs(last)+math.Abs(step) > 1<<62 {
			return math.Inf(1) // it would go round for ever
		}
		return 8 * (last - first) / cmp.Or(step, math.Inf(1))
	},
	"seq": func(args []reflect.Value) (size float64) {
		for i := range args[0].Len() {
			size += 8 * math.Abs(integer(args[0].Index(i)))
		}
		return size
	},
	"wrapWith": func(args []reflect.Value) float64 {
		return sizeOf(args[1]) * sizeOf(args[2]) / max(1, integer(args[0]))
	},
	"join": func(args []reflect.Value) float64 { return sizeOf(args[0]) * sizeOf(args[1]) / 16 },
	"replace": func(args []reflect.Value) float64 {
		return sizeOf(args[1]) * float64(strings.Count(args[2].String(), args[0].String()))
	},
}

func integer(of reflect.Value) float64 { return float64(of.Int()) }

// functions returns Helm's functions with limits, for the templates that they may include.
func (w *work) functions(all *template.Template) template.FuncMap {
	functions := appchart.Functions()
	maps.Copy(functions, template.FuncMap{
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	})
	dateInZone := functions["dateInZone"].(func(string, any, string) string)
	durationRound := functions["durationRound"].(func(any) string)
	maps.Copy(functions, dated(dateInZone, durationRound))
	if w.published != nil {
		derive := functions["derivePassword"].(func(uint32, string, string, string, string) string)
		maps.Copy(functions, sorted())
		maps.Copy(functions, w.calls.functions())
		maps.Copy(functions, w.calls.dates(dateInZone, durationRound))
		functions["derivePassword"] = w.derivePassword(derive)
		maps.Copy(functions, w.comparing())
	}
	for _, name := range growing {
		functions[name] = w.counted(name, functions[name])
	}
	functions["include"], functions["tpl"] = w.include(all), w.tpl(all)
	return functions
}

// comparisons is how many comparisons of items take as long as a step.
const comparisons = 4

// comparing returns the functions that compare the items of lists with each other, and count that as steps.
func (w *work) comparing() template.FuncMap {
	functions := appchart.Functions()
	uniq := functions["mustUniq"].(func(any) ([]any, error))
	without := functions["mustWithout"].(func(any, ...any) ([]any, error))
	has := functions["mustHas"].(func(any, any) (bool, error))
	all := template.FuncMap{
		"uniq": func(list any) ([]any, error) {
			if err := w.count(lengthOf(list) * lengthOf(list) / 2 / comparisons); err != nil {
				return nil, err
			}
			return uniq(list)
		},
		"without": func(list any, items ...any) ([]any, error) {
			if err := w.count(lengthOf(list) * len(items) / comparisons); err != nil {
				return nil, err
			}
			return without(list, items...)
		},
		"has": func(item, list any) (bool, error) {
			if err := w.count(lengthOf(list) / comparisons); err != nil {
				return false, err
			}
			return has(item, list)
		},
	}
	all["mustUniq"], all["mustWithout"], all["mustHas"] = all["uniq"], all["without"], all["has"]
	return all
}

func lengthOf(list any) int {
	if value := reflect.ValueOf(list); value.Kind() == reflect.Slice || value.Kind() == reflect.Array {
		return value.Len()
	}
	return 0
}

// deriving is how many steps derivePassword counts as.
const deriving = 10_000

func (w *work) derivePassword(derive func(uint32, string, string, string, string) string) any {
	return func(counter uint32, kind, password, user, site string) (string, error) {
		if err := w.count(deriving); err != nil {
			return "", err
		}
		return derive(counter, kind, password, user, site), nil
	}
}

// counted returns a function that counts the bytes of what it makes, and returns an error if they are too many.
func (w *work) counted(name string, function any) any {
	switch f := function.(type) { // those that charts call most: reflection takes longer
	case func(...any) string:
		return func(args ...any) (string, error) { return w.text(f(args...)) }
	case func(any) string:
		return func(arg any) (string, error) { return w.text(f(arg)) }
	case func(int, string) string:
		return func(n int, text string) (string, error) {
			times := len(text)
			if name != "repeat" { // it indents each line
				times = 1 + strings.Count(text, "\n")
			}
			if err := w.fits(float64(n) * float64(times)); err != nil {
				return "", err
			}
			return w.text(f(n, text))
		}
	}
	f, call := reflect.ValueOf(function), reflect.Value.Call
	of, failed := f.Type(), reflect.TypeFor[error]()
	if of.IsVariadic() {
		call = reflect.Value.CallSlice
	}
	in := make([]reflect.Type, of.NumIn())
	for i := range in {
		in[i] = of.In(i)
	}
	counting := reflect.FuncOf(in, []reflect.Type{of.Out(0), failed}, of.IsVariadic())
	return reflect.MakeFunc(counting, func(args []reflect.Value) []reflect.Value {
		if size := sizes[name]; size != nil {
			if err := w.fits(size(args)); err != nil {
				return []reflect.Value{reflect.Zero(of.Out(0)), reflect.ValueOf(err)}
			}
		}
		made := append(call(f, args), reflect.Zero(failed))[:2]
		if err := w.take(sizeOf(made[0])); err != nil {
			made[1] = reflect.ValueOf(err)
		}
		return made
	}).Interface()
}

func (w *work) text(text string) (string, error) { return text, w.take(float64(len(text))) }

// sizeOf returns the size of a text, or of a list without what it lists.
func sizeOf(value reflect.Value) float64 {
	if value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	switch value.Kind() {
	case reflect.String:
		return float64(value.Len())
	case reflect.Slice:
		return float64(value.Len()) * float64(value.Type().Elem().Size())
	}
	return 0
}

// dated returns the functions that format a time, which in Helm use the current time for anything that is not a time.
func dated(dateInZone func(string, any, string) string, durationRound func(any) string) template.FuncMap {
	inZone := func(layout string, at any, zone string) (string, error) {
		switch at.(type) {
		case time.Time, *time.Time, int, int32, int64:
			return dateInZone(layout, at, zone), nil
		}
		return "", fmt.Errorf("%T is not a time, so the present time would be printed, and each render would differ: use toDate, or int64 for seconds", at)
	}
	return template.FuncMap{
		"dateInZone": inZone, "date_in_zone": inZone,
		"date":           func(layout string, at any) (string, error) { return inZone(layout, at, "Local") },
		"htmlDate":       func(at any) (string, error) { return inZone(time.DateOnly, at, "Local") },
		"htmlDateInZone": func(at any, zone string) (string, error) { return inZone(time.DateOnly, at, zone) },
		"durationRound": func(length any) (string, error) {
			if _, isTime := length.(time.Time); isTime {
				return "", errors.New("the time since then differs in each render: give it a duration")
			}
			return durationRound(length), nil
		},
	}
}
