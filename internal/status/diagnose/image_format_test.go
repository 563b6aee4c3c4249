package diagnose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The words are those of containerd 2.1, containerd 2.0 by two ways, and Docker 26.
func TestAnImageOfAnOldFormatIsNoLongerRunByNodes(t *testing.T) {
	const pull = `Back-off pulling image "app:1": ErrImagePull: `
	cases := map[string]struct {
		message string
		old     bool
	}{
		"containerd 2.1":                         {pull + `rpc error: code = Unimplemented desc = failed to pull and unpack image "app:1": not implemented: media type "application/vnd.docker.distribution.manifest.v1+prettyjws" is no longer supported since containerd v2.1, please rebuild the image as "application/vnd.docker.distribution.manifest.v2+json" or "application/vnd.oci.image.manifest.v1+json"`, true},
		"containerd 2.0":                         {pull + `failed to get converter for "app:1": Pulling Schema 1 images have been deprecated and disabled by default since containerd v2.0. As a workaround you may set an environment variable ` + "`CONTAINERD_ENABLE_DEPRECATED_PULL_SCHEMA_1_IMAGE=1`" + `, but this will be completely removed in containerd v2.1.`, true},
		"containerd 2.0, its transfer service":   {pull + `rpc error: code = InvalidArgument desc = failed to pull and unpack image "app:1": schema 1 image manifests are no longer supported: invalid argument`, true},
		"Docker 26":                              {pull + `[DEPRECATION NOTICE] Docker Image Format v1 and Docker Image manifest version 2, schema 1 support is disabled by default and will be removed in an upcoming release. Suggest the author of docker.io/library/app:1 to upgrade the image to the OCI Format or Docker Image manifest v2, schema 2.`, true},
		"a manifest of today that is not there":  {pull + `unexpected media type text/html for application/vnd.oci.image.manifest.v1+json: not found`, false},
		"a feature that is no longer supported ": {pull + `"io.containerd.restart.logpath" is no longer supported since containerd v2.0`, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			causes := Causes(rollout([]corev1.PodStatus{waitingFor("ImagePullBackOff", test.message)}, nil))
			if len(causes) != 1 {
				t.Fatalf("got %+v", causes)
			}
			if got := causes[0].Hint == "no longer run by nodes, take a newer tag"; got != test.old {
				t.Errorf("got the hint %q for %s", causes[0].Hint, causes[0].Text())
			}
		})
	}
}
