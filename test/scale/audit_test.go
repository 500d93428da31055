package scale_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// call is one line of the audit log.
type call struct {
	Verb, UserAgent, Stage   string
	ObjectRef                struct{ Namespace, Resource, Subresource string }
	ResponseStatus           struct{ Code int }
	StageTimestamp           time.Time
	RequestReceivedTimestamp time.Time
}

// operatorAgent is the user agent of the operator in most benchmarks.
const operatorAgent = names.UserAgent + "/" + version

// readCalls returns the calls by clients whose user agent has a prefix, after a position in an audit log, except lists,
// watches, and calls for leases.
func readCalls(t testing.TB, audit string, after int64, agent string) []call {
	t.Helper()
	file, err := os.Open(audit)
	testutil.Must(t, err)
	defer file.Close()
	if _, err := file.Seek(after, 0); err != nil {
		t.Fatal(err)
	}
	var calls []call
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var one call
		if json.Unmarshal(scanner.Bytes(), &one) != nil {
			continue // the API server has not yet written the complete line
		}
		if strings.HasPrefix(one.UserAgent, agent) && one.Stage == "ResponseComplete" && one.Verb != "watch" &&
			one.Verb != "list" &&
			one.ObjectRef.Resource != "leases" {
			calls = append(calls, one)
		}
	}
	return calls
}
