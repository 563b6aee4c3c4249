//go:build cluster

package scenario

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// move is a change in the cluster that the operator does not see.
type move struct {
	name string
	make func(*scene)
	// gone says that the AppService was deleted.
	gone bool
	// spec that the AppService has afterwards; small if empty.
	spec string
	// taken reports whether a foreign object has the name of its Service afterwards.
	taken bool
}

var moves = []move{
	{name: "app-made-again", make: func(s *scene) { s.drop("AppService"); s.emptied(); s.want(small) }},
	{name: "app-made-otherwise", spec: with(small, `image: nginx:1.28`), make: func(s *scene) {
		s.drop("AppService")
		s.emptied()
		s.want(with(small, `image: nginx:1.28`))
	}},
	{name: "app-deleted", gone: true, make: func(s *scene) { s.drop("AppService"); s.emptied() }},
	{name: "spec-there-and-back", make: func(s *scene) { s.want(with(small, `image: nginx:1.28`)); s.want(small) }},
	{name: "service-deleted", make: func(s *scene) { s.drop("Service") }},
	{name: "service-taken", taken: true, make: func(s *scene) {
		s.drop("Service")
		service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		service.Name = appName
		s.foreign(s.T, service)
	}},
	{name: "deployment-deleted", make: func(s *scene) { s.drop("Deployment") }},
	{name: "service-edited-and-back", make: func(s *scene) {
		s.do(s.T, step{edit: map[string]string{"Service": `{"spec":{"sessionAffinity":"ClientIP"}}`}})
		s.do(s.T, step{edit: map[string]string{"Service": `{"spec":{"sessionAffinity":"None"}}`}})
	}},
	{name: "record-deleted", make: func(s *scene) { s.drop("Secret/sh.helm.release.v1.web.v1") }},
}

func (s *scene) drop(what string) {
	s.Helper()
	s.do(s.T, step{remove: []string{what}})
}

// emptied waits until the garbage collector is done.
func (s *scene) emptied() {
	s.Helper()
	s.gone()
}

// stale are the incidents of T3: the operator acts on an outdated state.
func stale() []incident {
	var list []incident
	for _, move := range moves {
		list = append(list,
			incident{"T3/old-list/" + move.name, func(s *scene) { oldList(s, move) }},
			incident{"T3/frozen/" + move.name, func(s *scene) { frozen(s, move) }},
			incident{"T3/lost/" + move.name, func(s *scene) { lost(s, move) }},
		)
	}
	return append(list, incident{"T3/late-watch/spec", lateWatch})
}

// lateWatch starts an operator whose watch of AppServices is behind what the one before it rolled out, while its other watches are not.
func lateWatch(s *scene) {
	s.with(small)
	s.still()
	version, newer := s.version(), with(small, `image: nginx:1.28`)
	s.want(newer)
	s.endsAs(newer)
	s.still()
	s.stop()
	before := s.versions()
	s.line.Start()
	s.view.StartAt(version, "appservices")
	s.start()
	s.still()
	s.blind()
	s.fault()
	s.view.Thaw()
	s.endsAs(newer)
	s.still()
	if now := s.versions(); !maps.Equal(now, before) {
		s.Errorf("objects were written: they had the versions %v and have %v", before, now)
	}
}

// oldList restarts the operator against an API server that is behind.
func oldList(s *scene, move move) {
	s.with(small)
	version := s.version()
	s.stop()
	move.make(s)
	s.line.Start()
	s.view.StartAt(version, "")
	s.start()
	s.still()
	s.blind()
	s.view.Thaw()
	s.after(move)
}

// frozen lets the operator see only its AppService, and changes the spec.
func frozen(s *scene, move move) {
	s.with(small)
	s.line.Start()
	s.view.Freeze("appservices")
	move.make(s)
	if !move.gone {
		changed := with(move.wanted(), `size: 2`)
		s.want(changed)
		move.spec = changed
	}
	s.still()
	s.view.Thaw()
	s.after(move)
}

// lost drops the events and answers 410 Gone.
func lost(s *scene, move move) {
	s.with(small)
	s.line.Start()
	s.view.Freeze("")
	move.make(s)
	s.still()
	s.blind()
	s.view.Lose()
	s.after(move)
}

func (m move) wanted() string {
	if m.spec != "" {
		return m.spec
	}
	return small
}

// blind checks that the operator has not seen the change: it writes nothing about it.
func (s *scene) blind() {
	s.Helper()
	if said := s.line.Said(); len(said) > 0 {
		s.Errorf("it wrote, although it could see nothing:\n    %s", strings.Join(said, "\n    "))
	}
}

// after checks the end: the state is that of a fresh AppService, and only records were deleted.
func (s *scene) after(move move) {
	s.Helper()
	s.fault()
	switch {
	case move.gone:
		s.gone()
	case move.taken:
		mine := s.uid("Service")
		s.says(v1.ReasonResourceExists)
		if now := s.uid("Service"); now != mine {
			s.Errorf("somebody else's Service was replaced: it was %s and is %s", mine, now)
		}
		s.drop("Service")
		s.endsAs(move.wanted())
	default:
		s.endsAs(move.wanted())
	}
	for change, times := range s.line.Changes() {
		if strings.HasPrefix(change, "delete ") && !strings.HasPrefix(change, "delete secrets/sh.helm.release.") {
			s.Errorf("O2: %s, %d times", change, times)
		}
	}
}
