package kube

import "testing"

func TestWhatRequestsARestart(t *testing.T) {
	for value, want := range map[string]bool{
		"2026-11-28T22:15:02Z": true, "2026-11-28T22:15:02.123456789+01:00": true, "2026-11-28 22:15:02.123 +0000 UTC m=+12.3": true,
		"Sat, 28 Nov 2026 22:15:02 UTC": true, "Sat Nov 28 22:15:02 UTC 2026": true, "1795904102": true, "1795904102123": true,
		"": false, "yes": false, "2026-11-28": false, "8080": false, "0.5": false, "9f86d081884c7d659a2feaa0c55ad015": false, "20261128221502": false, "12345678901": false,
		"2026": false, "v2026-11-28T22:15:02Z": false,
	} {
		if got := IsRestart("example.com/at", value); got != want {
			t.Errorf("%q: got %t", value, got)
		}
	}
	if !IsRestart("kubectl.kubernetes.io/restartedAt", "now") {
		t.Error("that of kubectl rollout restart is none")
	}
}
