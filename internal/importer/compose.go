package importer

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Compose returns an AppService for each service of a Compose file. Variables come from the options, and the files that it refers
// to are read.
func (i *Importer) Compose(ctx context.Context, text []byte, options FileOptions) ([]Result, []Note, error) {
	project, err := loader.LoadWithContext(ctx, compose.ConfigDetails{
		WorkingDir:  options.Dir,
		ConfigFiles: []compose.ConfigFile{{Filename: "compose.yaml", Content: text}},
		Environment: options.Environment,
	}, func(o *loader.Options) {
		o.SetProjectName("import", false)
		o.SkipResolveLabels = true
	}, loader.WithProfiles([]string{"*"}))
	if err != nil {
		return nil, nil, fmt.Errorf("it is not a Compose file: %w", err)
	}
	var results []Result
	for _, name := range sortedKeys(project.Services) {
		c := &service{
			draft:   &draft{NamespacedName: types.NamespacedName{Namespace: options.Namespace, Name: objectName(name)}, of: "service " + name},
			project: project, ServiceConfig: project.Services[name], options: options,
		}
		if err := c.translate(); err != nil {
			return nil, nil, err
		}
		result, err := i.finish(ctx, c.draft)
		if err != nil {
			return nil, nil, err
		}
		results = append(results, *result)
	}
	var left []Note
	for _, name := range sortedKeys(project.Networks) {
		if name != "default" {
			left = append(left, Note{Object: "network " + name, Reason: "all pods of a cluster reach each other", Remedy: "say by spec.access who may reach whom"})
		}
	}
	return results, left, nil
}

// service is the state of the conversion of one service.
type service struct {
	*draft
	compose.ServiceConfig
	project *compose.Project
	options FileOptions
}

func (c *service) translate() error {
	image := c.Image
	switch {
	case c.Build != nil && image == "" && c.options.Image == "":
		return fmt.Errorf("services.%s is built, and has no image: name one by image in the file, or by --image", c.Name)
	case c.Build != nil:
		if image == "" {
			image = c.options.Image
		}
		c.note("build", "nothing is built in a cluster: the image is "+image, "build it, and push it to where the cluster can pull it")
	}
	c.set("image", func(spec *v1.AppServiceSpec) { spec.Image = image })
	if c.Name != c.draft.Name {
		c.note("", "it is called "+c.draft.Name+", as names of objects have lower-case letters, digits and dashes", "write that name where others reach it")
	}
	c.set("entrypoint", func(spec *v1.AppServiceSpec) { spec.Command = escaped(c.Entrypoint) })
	c.set("command", func(spec *v1.AppServiceSpec) { spec.Args = escaped(c.Command) })
	c.set("working_dir", func(spec *v1.AppServiceSpec) { spec.WorkingDir = c.WorkingDir })
	c.environment()
	c.ports()
	c.health()
	c.size()
	c.security()
	c.volumes()
	c.contents()
	c.rest()
	return nil
}

// escaped returns text in which Kubernetes does not expand $(NAME).
func escaped(words []string) []string {
	var out []string
	for _, word := range words {
		out = append(out, unreferring(word))
	}
	return out
}

func (c *service) environment() {
	for _, name := range sortedKeys(c.Environment) {
		value := c.Environment[name]
		if value == nil {
			c.note("environment."+name, "it is taken from the environment that Compose runs in, where it is not set", "set it in spec.envs")
			continue
		}
		c.variable("environment."+name, name, unreferring(*value))
	}
}

// ports takes the ports of the container, by which services reach each other. Published ports of the host are left out.
func (c *service) ports() {
	type key struct {
		port     int32
		protocol string
	}
	var all []v1.Port
	seen := map[key]bool{}
	add := func(field string, target int64, protocol, name, app string) {
		if target < 1 || target > math.MaxUint16 {
			c.note(field, "a port of a Service is from 1 to 65535", "write the port in spec.ports")
			return
		}
		at := key{int32(target), strings.ToUpper(protocolOf(protocol))}
		if seen[at] {
			return
		}
		seen[at] = true
		port := v1.Port{Name: name, Port: at.port, Protocol: corev1.Protocol(at.protocol)}
		if app != "" {
			port.AppProtocol = &app
		}
		all = append(all, port)
	}
	for _, port := range c.Ports {
		add("ports", int64(port.Target), port.Protocol, port.Name, port.AppProtocol)
		if port.Published != "" {
			c.note("ports["+port.Published+"]", fmt.Sprintf("no port of a host is opened: the Service has port %d", port.Target),
				"set spec.ingress or spec.route for HTTP, or spec.service.type to LoadBalancer, to reach it from outside")
		}
	}
	for _, text := range c.Expose {
		number, protocol, _ := strings.Cut(text, "/")
		target, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			c.note("expose["+text+"]", "a range of ports is not taken", "list its ports in spec.ports")
			continue
		}
		add("expose", target, protocol, "", "")
	}
	if len(all) == 0 {
		c.note("ports", "it lists none, so that it has no Service: nobody reaches it by its name", "set spec.ports if others call it")
	}
	for n := range all {
		if all[n].Name == "" && len(all) > 1 {
			all[n].Name = fmt.Sprintf("%s-%d", strings.ToLower(string(all[n].Protocol)), all[n].Port)
		}
		c.set("ports", func(spec *v1.AppServiceSpec) { spec.Ports = append(spec.Ports, all[n]) })
	}
}

func (c *service) health() {
	h := c.HealthCheck
	switch {
	case h == nil:
		return
	case h.Disable || len(h.Test) > 0 && h.Test[0] == "NONE":
		c.set("healthcheck", func(spec *v1.AppServiceSpec) { spec.Probes = &v1.Probes{Readiness: &v1.ReadinessProbe{None: true}} })
		return
	case len(h.Test) == 0:
		c.note("healthcheck", "the image's own test is not known", "set spec.probes")
		return
	}
	command := slices.Clone([]string(h.Test))
	switch command[0] {
	case "CMD":
		command = command[1:]
	case "CMD-SHELL":
		command = append([]string{"/bin/sh", "-c"}, command[1:]...)
	}
	c.set("healthcheck", func(spec *v1.AppServiceSpec) {
		probe := v1.Probe{Exec: &corev1.ExecAction{Command: command}, PeriodSeconds: seconds(h.Interval, 30), TimeoutSeconds: seconds(h.Timeout, 30)}
		retries := int32(3)
		if h.Retries != nil && *h.Retries <= math.MaxInt16 {
			retries = int32(*h.Retries)
		}
		probe.FailureThreshold = &retries
		spec.Probes = &v1.Probes{Readiness: &v1.ReadinessProbe{Probe: probe}}
		if h.StartPeriod != nil {
			spec.Probes.StartupSeconds = seconds(h.StartPeriod, 0)
		}
	})
	c.note("healthcheck", "it becomes the readiness probe: a pod for which it fails gets no traffic, and goes on", "set spec.probes.liveness if it has to be started again then")
}

// seconds returns the seconds of a duration, rounded up.
func seconds(d *compose.Duration, otherwise int32) *int32 {
	if d == nil {
		return &otherwise
	}
	number := int32(math.Ceil(min(float64(*d)/1e9, math.MaxInt16)))
	return &number
}

func (c *service) size() {
	replicas := c.Scale
	if c.Deploy != nil && c.Deploy.Replicas != nil {
		replicas = c.Deploy.Replicas
	}
	if replicas != nil && *replicas >= 0 && *replicas <= math.MaxInt16 {
		size := int32(*replicas)
		c.set("deploy.replicas", func(spec *v1.AppServiceSpec) { spec.Size = &size })
	}
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	amount := func(into corev1.ResourceList, cpus float64, memory compose.UnitBytes) {
		if cpus > 0 {
			into[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(math.Ceil(cpus*1000)), resource.DecimalSI)
		}
		if memory > 0 {
			into[corev1.ResourceMemory] = *resource.NewQuantity(int64(memory), resource.BinarySI)
		}
	}
	amount(limits, float64(c.CPUS), c.MemLimit)
	amount(requests, 0, c.MemReservation)
	if c.Deploy != nil && c.Deploy.Resources.Limits != nil {
		amount(limits, float64(c.Deploy.Resources.Limits.NanoCPUs), c.Deploy.Resources.Limits.MemoryBytes)
	}
	if c.Deploy != nil && c.Deploy.Resources.Reservations != nil {
		amount(requests, float64(c.Deploy.Resources.Reservations.NanoCPUs), c.Deploy.Resources.Reservations.MemoryBytes)
	}
	if len(limits)+len(requests) > 0 {
		c.set("deploy.resources", func(spec *v1.AppServiceSpec) {
			spec.Resources = &corev1.ResourceRequirements{Limits: limits, Requests: requests}
		})
	}
	if c.StopGracePeriod != nil {
		grace := int64(*seconds(c.StopGracePeriod, 0))
		c.set("stop_grace_period", func(spec *v1.AppServiceSpec) { spec.TerminationGracePeriodSeconds = &grace })
	}
	if c.Restart == "no" || strings.HasPrefix(c.Restart, compose.RestartPolicyOnFailure) {
		c.note("restart", "an AppService is started again whenever it ends", "make it an AppJob if it ends by itself")
	}
}

func (c *service) security() {
	within := func(field string, set func(*v1.ContainerSecurity)) {
		c.set(field, func(spec *v1.AppServiceSpec) {
			if spec.Security == nil {
				spec.Security = &v1.Security{Container: &v1.ContainerSecurity{}}
			}
			set(spec.Security.Container)
		})
	}
	if c.User != "" {
		user, group, grouped := strings.Cut(c.User, ":")
		uid, err := strconv.ParseInt(user, 10, 64)
		gid, groupErr := strconv.ParseInt(group, 10, 64)
		if err != nil || grouped && groupErr != nil {
			c.note("user", c.User+": users and groups are numbers in a cluster", "set spec.security.container.runAsUser and runAsGroup")
		} else {
			within("user", func(to *v1.ContainerSecurity) {
				to.RunAsUser = &uid
				if grouped {
					to.RunAsGroup = &gid
				}
			})
		}
	}
	yes := true
	if c.ReadOnly {
		within("read_only", func(to *v1.ContainerSecurity) { to.ReadOnlyRootFilesystem = &yes })
	}
	if c.Privileged {
		within("privileged", func(to *v1.ContainerSecurity) { to.Privileged = &yes })
	}
	capabilities := func(names []string) (list []corev1.Capability) {
		for _, name := range names {
			list = append(list, corev1.Capability(strings.TrimPrefix(strings.ToUpper(name), "CAP_")))
		}
		return list
	}
	if len(c.CapDrop)+len(c.CapAdd) > 0 {
		within("cap_add", func(to *v1.ContainerSecurity) {
			to.Capabilities = &v1.Capabilities{Add: capabilities(c.CapAdd), Drop: capabilities(c.CapDrop)}
		})
	}
}

func (c *service) volumes() {
	first := true
	for _, volume := range c.Volumes {
		field := "volumes[" + volume.Target + "]"
		switch {
		case volume.Type == compose.VolumeTypeVolume && volume.Source != "":
			c.claim(field, objectName(volume.Source), volume.Target, first)
			first = false
			if c.others(volume.Source) {
				c.note(field, "other services use the volume, too: each AppService has its own", "mount one PersistentVolumeClaim by spec.volumes in all of them, with the access mode ReadWriteMany")
			}
		case volume.Type == compose.VolumeTypeVolume:
			c.empty(field, volume.Target, "")
		case volume.Type == compose.VolumeTypeTmpfs:
			c.empty(field, volume.Target, corev1.StorageMediumMemory)
		case volume.Type == compose.VolumeTypeBind:
			c.note(field, "folders and files of the host, here "+volume.Source+", are not in a cluster", "put files into spec.config.files or the image, and data into spec.persistence")
		default:
			c.note(field, "a volume of type "+volume.Type+" is not taken", "see whether spec.volumes has one like it")
		}
	}
	for _, target := range c.Tmpfs {
		target, _, _ = strings.Cut(target, ":")
		c.empty("tmpfs["+target+"]", target, corev1.StorageMediumMemory)
	}
}

// others reports whether another service mounts a volume.
func (c *service) others(source string) bool {
	for name, other := range c.project.Services {
		if name != c.Name && slices.ContainsFunc(other.Volumes, func(v compose.ServiceVolumeConfig) bool { return v.Source == source }) {
			return true
		}
	}
	return false
}

func (c *service) empty(field, target string, medium corev1.StorageMedium) {
	name := "empty-" + objectName(strings.Trim(target, "/"))
	c.set(field, func(spec *v1.AppServiceSpec) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}}})
		spec.VolumeMounts = append(spec.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: target})
	})
}

// contents takes configs, as files, and secrets, as a Secret that has to be created.
func (c *service) contents() {
	for _, config := range c.Configs {
		target := config.Target
		if target == "" {
			target = "/" + config.Source
		}
		field, content := "configs["+config.Source+"]", c.project.Configs[config.Source].Content
		if content == "" {
			c.note(field, "its content is not in the file", "add it to spec.config.files, and mount it at "+target)
			continue
		}
		c.file(field, target, content)
	}
	for _, secret := range c.Secrets {
		target := secret.Target
		if !path.IsAbs(target) {
			if target == "" {
				target = secret.Source
			}
			target = "/run/secrets/" + target
		}
		name := objectName(secret.Source)
		field := "secrets[" + secret.Source + "]"
		c.set(field, func(spec *v1.AppServiceSpec) {
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}})
			spec.VolumeMounts = append(spec.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: target, SubPath: secret.Source, ReadOnly: true})
		})
		c.note(field, "it comes from a Secret of the cluster", "make the Secret "+name+" with the key "+secret.Source)
	}
	if len(c.ExtraHosts) > 0 {
		for _, host := range sortedKeys(c.ExtraHosts) {
			for _, ip := range c.ExtraHosts[host] {
				c.set("extra_hosts["+host+"]", func(spec *v1.AppServiceSpec) {
					at := slices.IndexFunc(spec.HostAliases, func(a corev1.HostAlias) bool { return a.IP == ip })
					if at < 0 {
						at, spec.HostAliases = len(spec.HostAliases), append(spec.HostAliases, corev1.HostAlias{IP: ip})
					}
					spec.HostAliases[at].Hostnames = append(spec.HostAliases[at].Hostnames, host)
				})
			}
		}
	}
	if len(c.DNS)+len(c.DNSSearch) > 0 {
		c.set("dns", func(spec *v1.AppServiceSpec) {
			spec.DNSConfig = &corev1.PodDNSConfig{Nameservers: c.DNS, Searches: c.DNSSearch}
		})
	}
}

// taken are the fields of a service that the other steps convert, and those without a meaning in a cluster.
var taken = []string{
	"image", "entrypoint", "command", "working_dir", "environment", "env_file", "ports", "expose", "healthcheck", "scale", "deploy", "cpus", "mem_limit",
	"mem_reservation", "stop_grace_period", "restart", "user", "read_only", "privileged", "cap_add", "cap_drop", "volumes", "tmpfs", "configs",
	"secrets", "extra_hosts", "dns", "dns_search", "build", "container_name", "name", "networks", "attach", "pull_policy", "init",
}

// remedies for fields without an equivalent.
var remedies = map[string]string{
	"depends_on":   "nothing to do if it tries again by itself; else wait in spec.initContainers",
	"labels":       "set spec.podLabels or spec.podAnnotations, and spec.ingress where a proxy reads them",
	"profiles":     "leave out the AppService where it is not wanted",
	"logging":      "nothing to do: the cluster collects what programs print",
	"network_mode": "leave it out: pods have an address of their own",
	"stdin_open":   "set stdin in spec.podTemplate if it is needed",
	"tty":          "set tty in spec.podTemplate if it is needed",
	"hostname":     "set hostname in spec.podTemplate if it is needed",
	"links":        "reach services by their names",
	"shm_size":     "mount an emptyDir with medium Memory at /dev/shm",
	"devices":      "ask for a device plugin's resource in spec.resources",
}

// rest adds a note for each field that is set and that no step converts.
func (c *service) rest() {
	for _, name := range slices.Sorted(maps.Keys(fieldsSet(reflect.ValueOf(c.ServiceConfig)))) {
		if slices.Contains(taken, name) || name == "#extensions" {
			continue
		}
		remedy := remedies[name]
		if remedy == "" {
			remedy = "see whether spec.podTemplate has something like it"
		}
		c.note(name, "no field of an AppService says it", remedy)
	}
	if c.Deploy != nil {
		for _, name := range slices.Sorted(maps.Keys(fieldsSet(reflect.ValueOf(*c.Deploy)))) {
			if name != "replicas" && name != "resources" && name != "#extensions" && name != "placement" {
				c.note("deploy."+name, "no field of an AppService says it", "see spec.strategy, and spec.affinity")
			}
		}
	}
}

// fieldsSet returns the names of the fields of a service that are set, as in the file.
func fieldsSet(value reflect.Value) map[string]bool {
	set := map[string]bool{}
	for n := range value.NumField() {
		field := value.Type().Field(n)
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case field.Anonymous:
			maps.Copy(set, fieldsSet(value.Field(n)))
		case name != "" && name != "-" && !value.Field(n).IsZero():
			set[name] = true
		}
	}
	return set
}
