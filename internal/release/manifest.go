package release

// Manifest returns the manifest in the newest record of any Helm release, whoever wrote it: payload is the entry "release" of its Secret.
func Manifest(payload []byte) (string, error) { return decodeManifest(payload) }
