package translate

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// takeConfig chooses the ConfigMaps with the names of those that spec.config renders.
func (a *Application) takeConfig() {
	choose := func(suffix string, used bool, into **read.Pair[corev1.ConfigMap]) {
		for _, p := range read.Only(a.Objects, "", "ConfigMap", func(c *corev1.ConfigMap) bool {
			return used && c.Name == a.Name+suffix && len(c.BinaryData) == 0 && len(c.Data) > 0
		}) {
			if !a.Objects.Taken[p.Object] {
				*into = &p
				a.take(p.Object)
			}
		}
	}
	choose("-config", a.configFrom() == 0, &a.config)
	choose("-files", a.filesMount() != nil, &a.files)
}

func (a *Application) configPieces() []piece {
	var list []piece
	values := func(data map[string]string) map[string]v1.ConfigValue {
		return convert(data, func(value string) v1.ConfigValue { return v1.ConfigValue(value) })
	}
	if a.config != nil {
		list = append(list, piece{from: Source{read.Describe(a.config.Object), "data"}, set: func(spec *v1.AppServiceSpec) {
			made(&spec.Config).Environment = values(a.config.Read.Data)
		}})
	}
	if a.files != nil {
		mount := a.filesMount().MountPath
		list = append(list, piece{from: Source{read.Describe(a.files.Object), "data"}, set: func(spec *v1.AppServiceSpec) {
			to := made(&spec.Config)
			to.Files, to.MountPath = values(a.files.Read.Data), mount
		}})
	}
	return list
}
