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

// mark returns the end of the audit log before the test.
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

// calls returns the requests of a user since the mark.
func (c *cluster) calls(t *testing.T, user string, mark int) []call {
	t.Helper()
	var calls []call
	for line := range bytes.Lines(c.audit(t)[mark:]) {
		var each call
		if err := json.Unmarshal(line, &each); err != nil {
			continue // the API server has not written the whole line yet
		}
		if each.User.Username == user {
			calls = append(calls, each)
		}
	}
	if len(calls) < 20 {
		t.Errorf("only %d requests of %s, so the test reads the audit log incorrectly", len(calls), user)
	}
	return calls
}

// expectNothingRefused looks for requests of the operator that were denied.
func expectNothingRefused(t *testing.T, calls []call) {
	t.Helper()
	for _, each := range calls {
		if code := each.ResponseStatus.Code; code == http.StatusForbidden || code == http.StatusUnauthorized {
			t.Errorf("refused: %s", each)
		}
	}
}

// expectOnlyIn looks for requests outside of the namespaces: for all namespaces, for another namespace, or for a
// cluster-wide object. Requests that the API server allows for every client are ignored.
func expectOnlyIn(t *testing.T, calls []call, namespaces ...string) {
	t.Helper()
	for _, each := range calls {
		if each.ObjectRef != nil && each.ObjectRef.Resource != "" && !slices.Contains(namespaces, each.ObjectRef.Namespace) {
			t.Errorf("outside of the namespaces %q: %s", namespaces, each)
		}
	}
}
