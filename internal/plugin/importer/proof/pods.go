package proof

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pods returns what a pod template means.
func (s *side) pods(template *corev1.PodTemplateSpec) map[string]any {
	return s.podsOf(template, false)
}

// podsOf does so for the Job of a release task, too, whose names have no meaning.
func (s *side) podsOf(template *corev1.PodTemplateSpec, task bool) map[string]any {
	template = template.DeepCopy()
	pod := &template.Spec
	defaultPod(pod)
	s.token(pod)
	s.appArmor(template)
	volumes := s.sources(pod)
	mounted := map[string]bool{}
	out := content(pod)
	running, waiting := newKeyed(), newKeyed()
	if lone := len(pod.Containers) == 1; task && lone {
		pod.Containers[0].Name = "release"
	}
	for n := range pod.Containers {
		s.add(running, s.container(&pod.Containers[n], volumes, mounted), pod.Containers[n].Name)
	}
	var before []string
	for n := range pod.InitContainers {
		c := &pod.InitContainers[n]
		made := s.container(c, volumes, mounted)
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			s.add(waiting, made, c.Name)
			before = append(before, c.Name)
			continue
		}
		made["startsAfter"] = strings.Join(before, ", ")
		if len(before) == 0 {
			delete(made, "startsAfter")
		}
		s.add(running, made, c.Name)
	}
	running.order = nil
	out["containers"], out["initContainers"] = running, waiting
	unmounted := newKeyed()
	for name, source := range volumes {
		if _, claim := s.claims[name]; !claim && !mounted[name] {
			unmounted.add(name, source)
		}
	}
	unmounted.order = nil
	out["volumes"] = unmounted
	keyBy(out, "imagePullSecrets", "name")
	hostNames(out)
	s.selectors(out)
	prune(out)
	if task {
		return map[string]any{"spec": out}
	}
	return map[string]any{"metadata": s.metadata(metav1.ObjectMeta{Labels: template.Labels, Annotations: template.Annotations}), "spec": out}
}

func newKeyed() *keyed { return &keyed{items: map[string]any{}} }

// add adds an entry. One that says something else under a key that is taken stays beside the first, so that none hides
// another.
func (k *keyed) add(key string, value any) {
	name := key
	for n := 2; ; n++ {
		known, taken := k.items[name]
		if !taken {
			break
		}
		if reflect.DeepEqual(known, value) {
			return
		}
		name = fmt.Sprintf("%s, entry %d", key, n)
	}
	k.order = append(k.order, name)
	k.items[name] = value
}

// add adds a container under its name after; the name is compared, too.
func (s *side) add(to *keyed, container map[string]any, name string) {
	to.add(s.name(name), container)
}

// keyBy turns a list of maps into one that is found by a field.
func keyBy(in map[string]any, field, key string) {
	items, _ := in[field].([]any)
	if len(items) == 0 {
		return
	}
	list := newKeyed()
	for _, item := range items {
		entry, _ := item.(map[string]any)
		text, _ := entry[key].(string)
		list.add(text, entry)
	}
	in[field] = list
}

// hostNames turns lines of a hosts file into what they say: which names an address has, and in which order a name has
// its addresses, if there are several.
func hostNames(pod map[string]any) {
	lines, _ := pod["hostAliases"].([]any)
	names, addresses := map[string][]string{}, map[string][]string{}
	once := func(in map[string][]string, key, value string) {
		if !slices.Contains(in[key], value) {
			in[key] = append(in[key], value)
		}
	}
	for _, line := range lines {
		var alias corev1.HostAlias
		entry, _ := line.(map[string]any)
		convert(entry, &alias)
		for _, name := range alias.Hostnames {
			once(names, alias.IP, name)
			once(addresses, name, alias.IP)
		}
	}
	list := newKeyed()
	for address, of := range names {
		list.add(address, strings.Join(of, ", "))
	}
	for name, of := range addresses {
		if len(of) > 1 {
			list.add(name+" (order)", strings.Join(of, ", "))
		}
	}
	list.order = nil
	pod["hostAliases"] = list
}

// token sets whether the pods get a token: the pods decide, else their account.
func (s *side) token(pod *corev1.PodSpec) {
	given := s.template.Spec.AutomountServiceAccountToken
	for _, account := range s.accounts {
		if given == nil && account.Name == pod.ServiceAccountName && account.AutomountServiceAccountToken != nil {
			pod.AutomountServiceAccountToken = account.AutomountServiceAccountToken
		}
	}
}

const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/"

// appArmor reads the annotations that were before the field.
func (s *side) appArmor(template *corev1.PodTemplateSpec) {
	for key, value := range template.Annotations {
		name, is := strings.CutPrefix(key, appArmorPrefix)
		if !is {
			continue
		}
		for _, list := range [][]corev1.Container{template.Spec.Containers, template.Spec.InitContainers} {
			for n := range list {
				if list[n].Name == name && list[n].SecurityContext.AppArmorProfile == nil {
					list[n].SecurityContext.AppArmorProfile = appArmorProfile(value)
					delete(template.Annotations, key)
				}
			}
		}
	}
}

func appArmorProfile(value string) *corev1.AppArmorProfile {
	if local, is := strings.CutPrefix(value, "localhost/"); is {
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &local}
	}
	if value == "unconfined" {
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	}
	return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
}

// sources returns what is in each volume, by its name.
func (s *side) sources(pod *corev1.PodSpec) map[string]map[string]any {
	all := map[string]map[string]any{}
	for n := range pod.Volumes {
		volume := content(&pod.Volumes[n])
		delete(volume, "name")
		s.references(volume, "")
		all[pod.Volumes[n].Name] = volume
	}
	for name := range s.claims { // in place of a volume of their name
		all[name] = map[string]any{"volumeClaimTemplate": name}
	}
	return all
}

// container returns what a container means.
func (s *side) container(c *corev1.Container, volumes map[string]map[string]any,
	mounted map[string]bool) map[string]any {
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			resolve(c, &probe.ProbeHandler)
		}
	}
	if c.Lifecycle != nil {
		for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if handler != nil {
				resolve(c, &corev1.ProbeHandler{HTTPGet: handler.HTTPGet, TCPSocket: handler.TCPSocket})
			}
		}
	}
	out := content(c)
	out["ports"], out["env"], out["envFrom"] = s.ports(c), s.env(c), envFrom(c)
	mounts := newKeyed()
	for n := range c.VolumeMounts {
		mount := content(&c.VolumeMounts[n])
		delete(mount, "name")
		mounted[c.VolumeMounts[n].Name] = true
		mount["volume"] = volumes[c.VolumeMounts[n].Name]
		if volumes[c.VolumeMounts[n].Name] == nil {
			mount["volume"] = "no volume " + c.VolumeMounts[n].Name
		}
		path := strings.TrimSuffix(c.VolumeMounts[n].MountPath, "/")
		mount["mountPath"] = path
		mounts.add(path, mount)
	}
	mounts.order = nil
	out["volumeMounts"] = mounts
	for _, device := range c.VolumeDevices {
		mounted[device.Name] = true
	}
	return out
}

// resolve replaces names of ports by their numbers.
func resolve(c *corev1.Container, handler *corev1.ProbeHandler) {
	if handler.HTTPGet != nil {
		handler.HTTPGet.Port = numberIn(c, handler.HTTPGet.Port)
	}
	if handler.TCPSocket != nil {
		handler.TCPSocket.Port = numberIn(c, handler.TCPSocket.Port)
	}
}

// ports returns the ports by their numbers. A name that stays comes first among those of a number.
func (s *side) ports(c *corev1.Container) *keyed {
	list, of := newKeyed(), map[string]*corev1.ContainerPort{}
	stays := func(port *corev1.ContainerPort) bool { return s.after.hasPort(s.name(c.Name), port) }
	for n := range c.Ports {
		port := &c.Ports[n]
		key := portKey(port.ContainerPort, port.Protocol)
		if first := of[key]; first == nil {
			of[key] = port
		} else if stays(port) && !stays(first) {
			first.Name, port.Name = port.Name, first.Name
		}
	}
	for n := range c.Ports {
		key := portKey(c.Ports[n].ContainerPort, c.Ports[n].Protocol)
		if list.items[key] != nil {
			key += " " + c.Ports[n].Name
		}
		list.add(key, content(&c.Ports[n]))
	}
	list.order = nil
	return list
}

// hasPort reports whether a container has a port of the number and the name of another.
func (s *side) hasPort(container string, port *corev1.ContainerPort) bool {
	return s != nil && slices.ContainsFunc(slices.Concat(s.template.Spec.Containers, s.template.Spec.InitContainers),
		func(c corev1.Container) bool {
			return c.Name == container && slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
				return p.Name == port.Name &&
					portKey(p.ContainerPort, p.Protocol) == portKey(port.ContainerPort, port.Protocol)
			})
		})
}

// env returns the variables; of two with one name, the last counts, and an earlier one for what refers to it. Their
// order matters if one refers to another.
func (s *side) env(c *corev1.Container) *keyed {
	list, refers, last := newKeyed(), false, map[string]int{}
	for n := range c.Env {
		last[c.Env[n].Name] = n
	}
	meaning := func(n int) map[string]any {
		variable := content(&c.Env[n])
		s.references(variable, c.Name)
		return variable
	}
	for n, variable := range c.Env {
		if last[variable.Name] != n {
			continue
		}
		list.add(variable.Name, meaning(n))
		refers = refers || strings.Contains(variable.Value, "$(")
		value := strings.ReplaceAll(variable.Value, "$$", " ") // $$ is an escaped $
		for m, earlier := range c.Env[:n] {
			if last[earlier.Name] >= n && strings.Contains(value, "$("+earlier.Name+")") {
				list.items[earlier.Name+", as "+variable.Name+" reads it"] = meaning(m)
			}
		}
	}
	if !refers {
		list.order = nil
	}
	return list
}

// envFrom keeps the order: the last source of a variable counts.
func envFrom(c *corev1.Container) *keyed {
	list := newKeyed()
	for n := range c.EnvFrom {
		key := c.EnvFrom[n].Prefix
		if ref := c.EnvFrom[n].ConfigMapRef; ref != nil {
			key += "ConfigMap " + ref.Name
		}
		if ref := c.EnvFrom[n].SecretRef; ref != nil {
			key += "Secret " + ref.Name
		}
		list.add(key, content(&c.EnvFrom[n]))
	}
	if list.order == nil {
		list.order = []string{}
	}
	return list
}

// references names containers in references to their resources as they are called after; the container itself is the
// default.
func (s *side) references(value any, of string) {
	switch value := value.(type) {
	case map[string]any:
		if ref, is := value["resourceFieldRef"].(map[string]any); is {
			name, _ := ref["containerName"].(string)
			switch {
			case name == of:
				delete(ref, "containerName")
			case s.has(name):
				ref["containerName"] = s.name(name)
			case name != "":
				ref["containerName"] = "no container " + name
			}
			if ref["divisor"] == "0" || ref["divisor"] == nil {
				ref["divisor"] = "1"
			}
		}
		for _, item := range value {
			s.references(item, of)
		}
	case []any:
		for _, item := range value {
			s.references(item, of)
		}
	}
}

func (s *side) has(container string) bool {
	return slices.ContainsFunc(slices.Concat(s.template.Spec.Containers, s.template.Spec.InitContainers),
		func(c corev1.Container) bool { return c.Name == container })
}

// selectors replaces selectors of pods by what they find.
func (s *side) selectors(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range []string{"labelSelector", "podSelector"} {
			if found, is := value[key].(map[string]any); is && len(found) > 0 && value["namespaceSelector"] == nil {
				value[key] = s.selected(asSelector(found))
			}
		}
		for _, item := range value {
			s.selectors(item)
		}
	case []any:
		for _, item := range value {
			s.selectors(item)
		}
	}
}

func asSelector(from map[string]any) *metav1.LabelSelector {
	into := &metav1.LabelSelector{}
	convert(from, into)
	return into
}

// meaningful are fields whose empty value says something.
var meaningful = []string{"emptyDir", "podSelector", "namespaceSelector", "labelSelector", "value", "storageClassName",
	"claimName", "service", "labels", "annotations", "metadata", "securityContext"}

// prune removes fields that say nothing, as the API server's types have them.
func prune(fields map[string]any) {
	for key, value := range fields {
		switch value := value.(type) {
		case map[string]any:
			prune(value)
			if len(value) == 0 && !slices.Contains(meaningful, key) {
				delete(fields, key)
			}
		case *keyed:
			for name, item := range value.items {
				if entry, is := item.(map[string]any); is {
					entry = maps.Clone(entry)
					prune(entry)
					value.items[name] = entry
				}
			}
		case nil:
			delete(fields, key)
		}
	}
}
