package probe

import (
	"runtime"
	"strings"
	"testing"
)

// many returns a response of the maximum size with as many copies of an entry as it can have.
func many(entry string) []byte {
	start, end := `{"data": [`, entry+"]}"
	return []byte(start + strings.Repeat(entry+",", (maxAnswer-len(start)-len(end))/(len(entry)+1)) + end)
}

// TestMemoryOfAnswers checks that a response with very many entries needs little memory while it is read, because all
// workers can read one at the same time, and that little of it is kept.
func TestMemoryOfAnswers(t *testing.T) {
	const mostRead, mostKept, answers = 16 << 20, 64 << 10, 4
	for name, tc := range map[string]struct {
		body  []byte
		parse func([]byte) (any, error)
	}{
		"very many entries": {many("0"), func(body []byte) (any, error) { return parseModels(body) }},
		"models": {
			many(`{"id":"` + strings.Repeat("a", 42) + `"}`), func(body []byte) (any, error) { return parseModels(body) },
		},
		"connectors": {
			many(`{"connector_id":"` + strings.Repeat("a", 32) + `"}`), func(body []byte) (any, error) { return parseMCPServers(body) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := make([]any, answers)
			before := memory()
			for i := range kept {
				kept[i], _ = tc.parse(tc.body) // an error is fine
			}
			after := memory()
			runtime.KeepAlive(kept)
			if read := (after.TotalAlloc - before.TotalAlloc) / answers; read > mostRead {
				t.Errorf("reading an answer allocates %d bytes, want at most %d", read, mostRead)
			}
			if left := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / answers; left > mostKept {
				t.Errorf("an answer keeps %d bytes, want at most %d", left, mostKept)
			}
		})
	}
}

func memory() (now runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&now)
	return now
}
