package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Warnings returns what a policy says and may not mean: hosts are granted to namespaces that others than the platform
// team may create or label.
func (p *Policy) Warnings() []string {
	var list []string
	for _, each := range p.entries {
		grants := slices.ContainsFunc(withoutBeneath(each.Hosts), func(host string) bool {
			return host != everything && !strings.HasPrefix(host, refuses)
		})
		exact := len(each.names) > 0 &&
			!slices.ContainsFunc(each.names, func(name string) bool { return strings.Contains(name, everything) })
		if grants && !exact {
			list = append(list, fmt.Sprintf("%s grants hosts to namespaces by a pattern or by labels: whoever may create or "+
				"label such a namespace takes them over; give the names of the namespaces", each.place))
		}
	}
	return list
}
