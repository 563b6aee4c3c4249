package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Hide omits an API group from discovery, as an API server does that has just started; empty for none. The group is served all the same.
func (v *View) Hide(group string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hidden = group
}

func (v *View) hiddenGroup() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hidden
}

// discover answers which API groups are served.
func (v *View) discover(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	hidden := v.hiddenGroup()
	if err != nil || hidden == "" || response.StatusCode != http.StatusOK {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	if body, err = withoutGroup(body, hidden); err != nil {
		return nil, err
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	response.Header.Del("Etag")
	return response, nil
}

// withoutGroup removes a group from a list of groups, whether it is aggregated, with their kinds, or not.
func withoutGroup(body []byte, hidden string) ([]byte, error) {
	list := map[string]any{}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	for field, path := range map[string][]string{"items": {"metadata", "name"}, "groups": {"name"}} {
		groups, found := list[field].([]any)
		if !found {
			continue
		}
		list[field] = slices.DeleteFunc(groups, func(group any) bool {
			name, _, err := unstructured.NestedString(group.(map[string]any), path...)
			return err == nil && name == hidden
		})
	}
	return json.Marshal(list)
}
