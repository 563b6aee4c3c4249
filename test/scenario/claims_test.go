//go:build cluster

package scenario

// growing is a claim that may grow.
const growing = `persistence: {size: 1Gi, mountPath: /data, storageClassName: growing, accessModes: [ReadWriteMany], retain: false}`

// replicated is an AppService of two replicas with a claim each, which may grow.
const replicated = `
size: 2
image: nginx:1.7.9
ports: [{name: http, port: 80, targetPort: 80}]
persistence: {size: 1Gi, mountPath: /data, storageClassName: growing, perReplica: true}
`

var claimScenarios = []scenario{
	{name: "claims-grow", deadly: true, given: []step{{spec: replicated}}, steps: []step{{
		spec: with(replicated, `persistence: {size: 2Gi}`),
		expect: expectation{pods: true, fields: map[string]string{
			"PersistentVolumeClaim data-web-0.spec.resources.requests.storage": "2Gi",
			"PersistentVolumeClaim data-web-1.spec.resources.requests.storage": "2Gi",
		}},
	}}},
}
