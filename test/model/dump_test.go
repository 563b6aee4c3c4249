package model

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// signature is equal for two worlds in which the same can happen next: versions and UIDs count only by their order, times by their distance from
// now.
func (w *world) signature() string {
	var out strings.Builder
	fmt.Fprintf(&out, "faults %d changes %d queued %t\n", w.faults, w.changes, w.process.queued)
	fmt.Fprintf(&out, "runs %v\n", w.runs)
	var timers []string
	for _, at := range w.process.timers {
		timers = append(timers, at.Sub(w.clock.Now()).String())
	}
	slices.Sort(timers)
	fmt.Fprintf(&out, "timers %s\n", timers)
	d := &dumper{out: &out, now: w.clock.Now(), open: map[uintptr]bool{}}
	for _, key := range sorted(w.server.objects) {
		d.write("server", w.server.objects[key].Object)
		d.write("owners", w.server.owners[w.server.objects[key].GetUID()])
	}
	for _, p := range []*process{w.process, w.former} {
		if p == nil {
			continue
		}
		for _, key := range sorted(p.store) {
			d.write("informers", p.store[key].Object)
		}
		for _, kind := range w.shape.kinds() {
			for _, c := range w.server.log[p.told[kind]:] {
				if kube.KeyOf(c.object).Kind == kind {
					d.write("to be told", fmt.Sprint(c.deleted))
					d.write("object", c.object.Object)
				}
			}
		}
		// Everything that the process remembers, in whatever field: no field is known by name.
		for _, memory := range []any{p.Reconciler, p.Observer, p.Status, p.Rollouts} {
			d.value(reflect.ValueOf(memory).Elem(), true)
		}
	}
	return rankedValues(w.server.ranked(out.String()))
}

// randomValues are those that the operator makes: 16 characters, in base 64.
var randomValues = regexp.MustCompile(`[A-Za-z0-9+/]{22}==`)

// rankedValues replaces values that were made at random by the order in which they occur.
func rankedValues(text string) string {
	ranks := map[string]string{}
	return randomValues.ReplaceAllStringFunc(text, func(value string) string {
		if ranks[value] == "" {
			ranks[value] = fmt.Sprintf("<value %d>", len(ranks)+1)
		}
		return ranks[value]
	})
}

var numbers = regexp.MustCompile(`70\d{5}|uid-\d{3}-|1[7-9]\d{8}`)

// ranked replaces versions and UIDs by their rank among those of the same object, since they are only compared with those, and removes the seconds
// of the machine's clock, which Helm writes into labels.
func (s *server) ranked(text string) string {
	found := numbers.FindAllString(text, -1)
	slices.Sort(found)
	names, count := map[string]string{}, map[string]int{}
	for _, number := range slices.Compact(found) {
		of := s.of[number]
		if of == "" {
			continue
		}
		count[of]++
		names[number] = fmt.Sprintf("<%s #%d>", of, count[of])
	}
	return numbers.ReplaceAllStringFunc(text, func(number string) string { return names[number] })
}

// dumper prints values, private fields included.
type dumper struct {
	out  *strings.Builder
	now  time.Time
	open map[uintptr]bool
}

func (d *dumper) write(what string, value any) {
	fmt.Fprintf(d.out, "%s: ", what)
	d.value(reflect.ValueOf(value), false)
	d.out.WriteString("\n")
}

var timeType = reflect.TypeFor[time.Time]()

// value prints a value. From the struct at the top, it prints only the state of a process: its private fields.
func (d *dumper) value(v reflect.Value, top bool) {
	switch v.Kind() {
	case reflect.Invalid:
		d.out.WriteString("nil")
	case reflect.Interface, reflect.Pointer:
		d.pointer(v)
	case reflect.Struct:
		if v.Type() == timeType {
			d.time(v)
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if top && field.IsExported() || strings.HasPrefix(field.Type.String(), "sync.") || skipped[field.Type.String()] {
				continue
			}
			fmt.Fprintf(d.out, "%s=", field.Name)
			d.value(v.Field(i), false)
			d.out.WriteString(";")
		}
	case reflect.Map:
		var entries []string
		for _, key := range v.MapKeys() {
			entry := &dumper{out: &strings.Builder{}, now: d.now, open: d.open}
			entry.value(key, false)
			entry.out.WriteString(":")
			entry.value(v.MapIndex(key), false)
			entries = append(entries, entry.out.String())
		}
		slices.Sort(entries)
		fmt.Fprintf(d.out, "{%s}", strings.Join(entries, ","))
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(d.out, "%d bytes", v.Len())
			return
		}
		for i := range v.Len() {
			d.value(v.Index(i), false)
			d.out.WriteString(",")
		}
	case reflect.String:
		if text := v.String(); len(text) < 500 { // records hold the time of day
			d.out.WriteString(text)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
	case reflect.Bool:
		fmt.Fprint(d.out, v.Bool())
	case reflect.Float32, reflect.Float64:
		fmt.Fprint(d.out, v.Float())
	default:
		if v.CanInt() {
			fmt.Fprint(d.out, v.Int())
			return
		}
		fmt.Fprint(d.out, v.Uint())
	}
}

// skipped are types of remembered state that affect no decision: the caches and clients of the model itself, and durations.
var skipped = map[string]bool{"cache.Cache": true, "client.Reader": true, "time.Duration": true}

func (d *dumper) pointer(v reflect.Value) {
	if v.IsNil() {
		d.out.WriteString("nil")
		return
	}
	if v.Kind() == reflect.Pointer {
		if d.open[v.Pointer()] {
			return
		}
		d.open[v.Pointer()] = true
		defer delete(d.open, v.Pointer())
	}
	d.value(v.Elem(), false)
}

// time prints the distance to a time of the model. Times of the machine itself are left out.
func (d *dumper) time(v reflect.Value) {
	wall := v.Field(0).Uint()
	ext := v.Field(1).Int()
	at := time.Unix(0, 0)
	if wall&(1<<63) == 0 {
		at = time.Unix(ext-62135596800, 0)
	}
	if distance := at.Sub(d.now); distance.Abs() < 24*time.Hour {
		fmt.Fprint(d.out, distance)
	}
}
