package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
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
	list := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	for _, field := range []string{"items", "groups"} {
		var groups, kept []json.RawMessage
		if list[field] == nil {
			continue
		}
		if err := json.Unmarshal(list[field], &groups); err != nil {
			return nil, err
		}
		for _, group := range groups {
			var named struct {
				Name     string `json:"name"`
				Metadata struct {
					Name string `json:"name"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal(group, &named); err != nil {
				return nil, err
			}
			if named.Name != hidden && named.Metadata.Name != hidden {
				kept = append(kept, group)
			}
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		list[field] = text
	}
	return json.Marshal(list)
}
