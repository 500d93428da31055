package nesting_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/nesting"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		most, deep int
	}{
		{`{"a":{"b":[1,{"c":2}]},"d":[]}`, `{"a":{"b":[]},"d":[]}`, 3, 4},
		{`{"a":{"b":[1]},"d":[],"e":"{\"[\\"}`, `{"a":{},"d":[],"e":"{\"[\\"}`, 2, 3},
		{`{"a":[1,2]}`, `{"a":[1,2]}`, 2, 2},
		{`[{},[{}],5]`, `[{},[],5]`, 2, 3},
		{`5`, `5`, 1, 0},
	} {
		got, deep := nesting.Cut([]byte(tt.text), tt.most)
		if string(got) != tt.want || deep != tt.deep {
			t.Errorf("%s: %s with depth %d, want %s with depth %d", tt.text, got, deep, tt.want, tt.deep)
		}
	}
}

// FuzzCut checks that Cut returns JSON of at most the wanted depth for every JSON text.
func FuzzCut(f *testing.F) {
	f.Add(`{"a":{"b":[1,{"c":"\"]}\\"}]},"d":[]}`, 2)
	f.Add(strings.Repeat("[", 200)+strings.Repeat("]", 200), 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = 1 + (most&0xff)%20
		if !json.Valid([]byte(text)) {
			return
		}
		cut, deep := nesting.Cut([]byte(text), most)
		if !json.Valid(cut) || deep <= most && string(cut) != text {
			t.Errorf("%s becomes %s", text, cut)
		}
		if _, deep := nesting.Cut(cut, most); deep > most {
			t.Errorf("%s becomes %s with depth %d, want %d", text, cut, deep, most)
		}
	})
}
