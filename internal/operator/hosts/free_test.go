package hosts

import "github.com/example/appservice-operator/internal/engine/kube"

// Free are rules that allow everything, and grant and share nothing.
type Free struct{}

// Refused implements Rules.
func (Free) Refused(string, kube.Key, RoutePath) error { return nil }

// Granted implements Rules.
func (Free) Granted(string, string) bool { return false }

// Shared implements Rules.
func (Free) Shared(string, string) bool { return false }

// Below implements Rules.
func (Free) Below(string, string) (may, named bool) { return true, false }
