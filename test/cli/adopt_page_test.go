//go:build cluster

package cli

import "testing"

// The page about adoption shows what happens.
func TestAdoptionIsAsThePageShows(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	manager := cluster.Manager(t, u.namespace)
	u.helm(t, "adopt/chart", "web")
	u.running(t)
	u.follows(t, manager, "adopt.md")
}
