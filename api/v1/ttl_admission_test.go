package v1_test

import "testing"

func TestTheEdgesOfTimesToLive(t *testing.T) {
	const bounds, pattern, persistence = "spec.ttl must be at least 1m and at most 8760h", "spec.ttl", "spec.persistence.retain must be set with spec.ttl"
	tests := map[string]edge{
		"from below":                {`ttl: 1m`, `ttl: 59s`, bounds},
		"from above":                {`ttl: 8760h`, `ttl: 8760h1s`, bounds},
		"from above, in seconds":    {`ttl: 31536000s`, `ttl: 31536001s`, bounds},
		"in other units":            {`ttl: 1h30m15s`, `ttl: 3d`, pattern},
		"in another order":          {`ttl: 90m`, `ttl: 30m1h`, pattern},
		"a fraction":                {`ttl: 90s`, `ttl: 1.5m`, pattern},
		"below nothing":             {`ttl: 60s`, `ttl: -60s`, pattern},
		"a number":                  {`ttl: "60s"`, `ttl: 60`, pattern},
		"no time":                   {`ttl: 0h60m`, `ttl: ""`, pattern},
		"a claim that goes with it": {`ttl: 72h, persistence: {size: 1Gi, mountPath: /a, retain: false}`, `ttl: 72h, persistence: {size: 1Gi, mountPath: /a}`, persistence},
		"a claim that is kept":      {`ttl: 72h, persistence: {size: 1Gi, mountPath: /a, retain: true}`, `ttl: 72h, persistence: {size: 1Gi, mountPath: /a, accessModes: [ReadWriteOnce]}`, persistence},
	}
	testEdges(t, tests)
}
