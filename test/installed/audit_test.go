package installed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
)

// call is one request in the API server's audit log.
type call struct {
	Verb           string
	Stage          string
	RequestURI     string
	User           struct{ Username string }
	ObjectRef      *struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus struct {
		Code    int
		Message string
	}
}

func (c call) String() string {
	return fmt.Sprintf("%s %s: %d %s", c.Verb, c.RequestURI, c.ResponseStatus.Code, c.ResponseStatus.Message)
}

// mark returns the current length of the audit log.
func (c *cluster) mark(t *testing.T) int {
	t.Helper()
	return len(c.audit(t))
}

func (c *cluster) audit(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(c.auditLog)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// calls returns the requests that a user has sent since the mark.
func (c *cluster) calls(t *testing.T, user string, mark int) []call {
	t.Helper()
	var calls []call
	for line := range bytes.Lines(c.audit(t)[mark:]) {
		var each call
		if err := json.Unmarshal(line, &each); err != nil {
			continue // the API server has not yet written the complete line
		}
		if each.User.Username == user {
			calls = append(calls, each)
		}
	}
	if len(calls) < 20 {
		t.Errorf("found only %d requests of %s; the test probably reads the audit log incorrectly", len(calls), user)
	}
	return calls
}

// expectNothingRefused checks that no request from the operator was denied.
func expectNothingRefused(t *testing.T, calls []call) {
	t.Helper()
	for _, each := range calls {
		if code := each.ResponseStatus.Code; code == http.StatusForbidden || code == http.StatusUnauthorized {
			t.Errorf("a denied request: %s", each)
		}
	}
}

// expectOnlyIn checks that each request is for one of the given namespaces, and not for all namespaces, any other
// namespace, or a cluster-wide object. It ignores requests that the API server allows for every client.
func expectOnlyIn(t *testing.T, calls []call, namespaces ...string) {
	t.Helper()
	for _, each := range calls {
		if each.ObjectRef != nil && each.ObjectRef.Resource != "" && !slices.Contains(namespaces, each.ObjectRef.Namespace) {
			t.Errorf("a request outside the namespaces %q: %s", namespaces, each)
		}
	}
}
