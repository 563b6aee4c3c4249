//go:build cluster

package fault

// tasked is an AppService with a release task, which has a configuration of its own.
const tasked = small + `
config: {environment: {GREETING: hello}}
release: {command: [migrate]}
`

// lateTasks are the scenarios in which the operator sees AppServices, or the Jobs of their tasks, as they were.
func lateTasks() []scenario {
	changed, again := with(tasked, `image: nginx:1.27`), with(tasked, `image: nginx:1.28`)
	var list []scenario
	for _, late := range []string{"appservices", "jobs"} {
		list = append(list,
			scenario{"task/restarted-late/" + late, func(s *scene) { s.restartsLate(late, tasked, changed) }},
			scenario{"task/frozen/" + late + "/changed", func(s *scene) { s.frozenWhile(late, tasked, changed) }},
			scenario{"task/frozen/" + late + "/there-and-back", func(s *scene) { s.frozenWhile(late, tasked, changed, tasked) }},
			scenario{"task/frozen/" + late + "/twice", func(s *scene) { s.frozenWhile(late, tasked, changed, again) }},
		)
	}
	return list
}

// taskWorkloads are changes of an AppService with a release task, whose runs are counted as those of AppJobs are.
var taskWorkloads = []workload{
	{name: "task-first", task: true, act: []step{{spec: tasked}}},
	{name: "task-new-image", task: true, before: []step{{spec: tasked}}, act: []step{{spec: with(tasked, `image: nginx:1.27`)}}},
	{name: "task-new-args", task: true, before: []step{{spec: tasked}}, act: []step{{spec: with(tasked, `release: {args: [--all]}`)}}},
	{name: "task-there-and-back", task: true, before: []step{{spec: tasked}}, act: []step{{spec: with(tasked, `image: nginx:1.27`)}, {spec: tasked}}},
	{name: "task-on", task: true, before: []step{{spec: small}}, act: []step{{spec: tasked}}},
	{name: "task-off", task: true, before: []step{{spec: tasked}}, act: []step{{spec: small}}},
}
