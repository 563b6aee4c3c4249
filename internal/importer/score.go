package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

var oneGi = resource.MustParse("1Gi")

// scoreVersion reports whether an apiVersion is one of Score's.
func scoreVersion(version string) bool { return strings.HasPrefix(version, "score.dev/") }

// The form of Score's v1b1, https://docs.score.dev/docs/score-specification/score-spec-reference. Lists of files and volumes are its older
// form.
type (
	scoreFile struct {
		APIVersion string                    `json:"apiVersion"`
		Metadata   map[string]any            `json:"metadata"`
		Containers map[string]scoreContainer `json:"containers"`
		Service    *struct {
			Ports map[string]scorePort `json:"ports"`
		} `json:"service"`
		Resources map[string]*scoreResource `json:"resources"`
	}
	scorePort struct {
		Port       int32  `json:"port"`
		Protocol   string `json:"protocol"`
		TargetPort *int32 `json:"targetPort"`
	}
	scoreContainer struct {
		Image          string                      `json:"image"`
		Command        []string                    `json:"command"`
		Args           []string                    `json:"args"`
		Variables      map[string]string           `json:"variables"`
		Files          keyed[scoreContent]         `json:"files"`
		Volumes        keyed[scoreVolume]          `json:"volumes"`
		Resources      corev1.ResourceRequirements `json:"resources"`
		LivenessProbe  *scoreProbe                 `json:"livenessProbe"`
		ReadinessProbe *scoreProbe                 `json:"readinessProbe"`
	}
	scoreContent struct {
		Target        string  `json:"target"`
		Mode          string  `json:"mode"`
		Source        string  `json:"source"`
		Content       *string `json:"content"`
		BinaryContent string  `json:"binaryContent"`
		NoExpand      bool    `json:"noExpand"`
	}
	scoreVolume struct {
		Target   string `json:"target"`
		Source   string `json:"source"`
		Path     string `json:"path"`
		ReadOnly bool   `json:"readOnly"`
	}
	scoreProbe struct {
		HTTPGet *struct {
			Host        string              `json:"host"`
			Scheme      corev1.URIScheme    `json:"scheme"`
			Path        string              `json:"path"`
			Port        intstr.IntOrString  `json:"port"`
			HTTPHeaders []corev1.HTTPHeader `json:"httpHeaders"`
		} `json:"httpGet"`
		Exec *corev1.ExecAction `json:"exec"`
	}
	scoreResource struct {
		Type     string         `json:"type"`
		Class    string         `json:"class"`
		ID       string         `json:"id"`
		Metadata map[string]any `json:"metadata"`
		Params   map[string]any `json:"params"`
	}
)

// keyed is a map by target, or a list of entries with a target.
type keyed[T any] map[string]T

// UnmarshalJSON reads both forms.
func (k *keyed[T]) UnmarshalJSON(data []byte) error {
	if !strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		all := map[string]T{}
		err := yaml.UnmarshalStrict(data, &all)
		*k = all
		return err
	}
	var list []T
	if err := yaml.UnmarshalStrict(data, &list); err != nil {
		return err
	}
	var targets []struct {
		Target string `json:"target"`
	}
	if err := yaml.Unmarshal(data, &targets); err != nil {
		return err
	}
	*k = map[string]T{}
	for n, item := range list {
		(*k)[targets[n].Target] = item
	}
	return nil
}

// Score returns an AppService for a Score file.
func (i *Importer) Score(ctx context.Context, text []byte, options FileOptions) ([]Result, error) {
	var file scoreFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("it is not a Score file of score.dev/v1b1: %w", err)
	}
	name, _ := file.Metadata["name"].(string)
	if name == "" || len(file.Containers) == 0 {
		return nil, errors.New("metadata.name and containers are required in a Score file")
	}
	s := &score{file: file, draft: &draft{NamespacedName: types.NamespacedName{Namespace: options.Namespace, Name: name}, of: "workload " + name}, options: options}
	if err := s.translate(); err != nil {
		return nil, err
	}
	result, err := i.finish(ctx, s.draft)
	if err != nil {
		return nil, err
	}
	return []Result{*result}, nil
}

// FileOptions complete files of workloads.
type FileOptions struct {
	Namespace string
	// Image is used for services without an image, which are built first.
	Image string
	// Environment has the variables that files may refer to, and Dir is the folder for relative paths.
	Environment map[string]string
	Dir         string
}

// score is the state of the conversion of one Score file.
type score struct {
	*draft
	file    scoreFile
	options FileOptions
	// secrets are the keys that a Secret of a resource needs, by resource.
	secrets map[string][]string
}

func (s *score) translate() error {
	main := s.main()
	if err := s.container(main); err != nil {
		return err
	}
	if s.file.Service != nil {
		s.ports()
	}
	for _, name := range sortedKeys(s.file.Containers) {
		if name != main {
			if err := s.sidecar(name); err != nil {
				return err
			}
		}
	}
	s.resources()
	if annotations, ok := s.file.Metadata["annotations"].(map[string]any); ok {
		s.set("metadata.annotations", func(spec *v1.AppServiceSpec) {
			spec.PodAnnotations = map[string]v1.Annotation{}
			for key, value := range annotations {
				spec.PodAnnotations[key] = v1.Annotation(fmt.Sprint(value))
			}
		})
	}
	return nil
}

// main returns the name of the main container: that of the workload, else main, else the first.
func (s *score) main() string {
	names := sortedKeys(s.file.Containers)
	for _, name := range []string{s.Name, "main", mainContainer} {
		if slices.Contains(names, name) {
			return name
		}
	}
	return names[0]
}

// image returns the image of a container; a dot stands for an image that is built.
func (s *score) image(name string) (string, error) {
	image := s.file.Containers[name].Image
	if image != "." {
		return image, nil
	}
	if s.options.Image == "" {
		return "", fmt.Errorf("containers.%s.image is \".\", which stands for an image that is built: name it by --image", name)
	}
	return s.options.Image, nil
}

func (s *score) container(name string) error {
	c := s.file.Containers[name]
	at := "containers." + name + "."
	image, err := s.image(name)
	if err != nil {
		return err
	}
	s.set(at+"image", func(spec *v1.AppServiceSpec) { spec.Image = image })
	s.set(at+"command", func(spec *v1.AppServiceSpec) { spec.Command = c.Command })
	s.set(at+"args", func(spec *v1.AppServiceSpec) { spec.Args = c.Args })
	for _, variable := range s.variables(at, c.Variables) {
		s.set(at+"variables."+variable.Name, func(spec *v1.AppServiceSpec) {
			if !slices.ContainsFunc(spec.Envs, func(e corev1.EnvVar) bool { return e.Name == variable.Name }) {
				spec.Envs = append(spec.Envs, variable)
			}
		})
	}
	if len(c.Resources.Limits)+len(c.Resources.Requests) > 0 {
		s.set(at+"resources", func(spec *v1.AppServiceSpec) { spec.Resources = &c.Resources })
	}
	s.probes(at, c)
	s.files(at, c.Files)
	s.volumes(at, c.Volumes)
	return nil
}

func (s *score) ports() {
	names := sortedKeys(s.file.Service.Ports)
	slices.SortStableFunc(names, func(a, b string) int { // TCP first
		return cmp.Compare(protocolOf(s.file.Service.Ports[a].Protocol), protocolOf(s.file.Service.Ports[b].Protocol))
	})
	for _, name := range names {
		port := s.file.Service.Ports[name]
		s.set("service.ports."+name, func(spec *v1.AppServiceSpec) {
			to := v1.Port{Name: name, Port: port.Port, Protocol: corev1.Protocol(port.Protocol)}
			if port.TargetPort != nil {
				target := intstr.FromInt32(*port.TargetPort)
				to.TargetPort = &target
			}
			spec.Ports = append(spec.Ports, to)
		})
	}
}

func (s *score) probes(at string, c scoreContainer) {
	each := func(field string, from *scoreProbe, set func(*v1.Probes, v1.Probe)) {
		if from == nil {
			return
		}
		probe := v1.Probe{Exec: from.Exec}
		if get := from.HTTPGet; get != nil {
			probe.HTTPGet = &v1.HTTPGetProbe{Path: get.Path, Port: &get.Port, Scheme: get.Scheme, HTTPHeaders: get.HTTPHeaders}
			if get.Host != "" {
				s.note(at+field+".httpGet.host", "probes ask the pod itself", "nothing to do, or set a header Host")
			}
			if from.Exec != nil {
				s.note(at+field+".exec", "a probe asks one thing: httpGet is taken", "leave out one of them")
				probe.Exec = nil
			}
		}
		s.set(at+field, func(spec *v1.AppServiceSpec) {
			if spec.Probes == nil {
				spec.Probes = &v1.Probes{}
			}
			set(spec.Probes, probe)
		})
	}
	each("livenessProbe", c.LivenessProbe, func(to *v1.Probes, probe v1.Probe) { to.Liveness = &probe })
	each("readinessProbe", c.ReadinessProbe, func(to *v1.Probes, probe v1.Probe) { to.Readiness = &v1.ReadinessProbe{Probe: probe} })
}

func (s *score) files(at string, files keyed[scoreContent]) {
	for _, target := range sortedKeys(files) {
		file, field := files[target], at+"files["+target+"]"
		switch {
		case file.Content == nil && file.Source != "":
			s.note(field, "the file "+file.Source+" is not read", "add its content to spec.config.files, mounted as the others are")
			continue
		case file.Content == nil:
			s.note(field, "spec.config.files holds text", "put it into a ConfigMap with binaryData, and mount that by spec.volumes and spec.volumeMounts")
			continue
		}
		content := *file.Content
		if !file.NoExpand {
			var all bool
			if content, all = s.known(content); !all {
				s.note(field, "its placeholders of resources are left as they are", "write the values, or let the program read variables")
			}
		}
		if file.Mode != "" && file.Mode != "0644" {
			s.note(field+".mode", "files of spec.config have the mode 0644", "nothing to do unless it has to be run or hidden")
		}
		s.draft.file(field, target, content)
	}
}

func (s *score) volumes(at string, volumes keyed[scoreVolume]) {
	first := true
	targets := sortedKeys(volumes)
	slices.SortStableFunc(targets, func(a, b string) int { return cmp.Compare(readOnlyLast(volumes[a]), readOnlyLast(volumes[b])) })
	for _, target := range targets {
		volume, field := volumes[target], at+"volumes["+target+"]"
		if volume.Path != "" || volume.ReadOnly {
			s.note(field, "spec.persistence mounts the whole volume, to be written to", "set subPath or readOnly in a spec.volumeMounts of your own")
		}
		name := strings.TrimSuffix(strings.TrimPrefix(volume.Source, "${resources."), "}")
		s.claim(field, objectName(name), target, first)
		first = false
	}
}

func readOnlyLast(volume scoreVolume) int {
	if volume.ReadOnly {
		return 1
	}
	return 0
}

// sidecar adds another container of the workload.
func (s *score) sidecar(name string) error {
	c, at := s.file.Containers[name], "containers."+name
	image, err := s.image(name)
	if err != nil {
		return err
	}
	if len(c.Files)+len(c.Volumes) > 0 || c.LivenessProbe != nil || c.ReadinessProbe != nil {
		s.note(at, "files, volumes and probes of sidecars are not taken", "add them to spec.sidecars, with the field names of a Pod")
	}
	s.set(at, func(spec *v1.AppServiceSpec) {
		spec.Sidecars = append(spec.Sidecars, corev1.Container{
			Name: name, Image: image, Command: c.Command, Args: c.Args, Env: s.variables(at+".", c.Variables), Resources: c.Resources,
		})
	})
	return nil
}
