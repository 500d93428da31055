package draft

import (
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// The keys of a wide mapping are read once for any number of paths in the mapping. The keys of a narrow mapping are
// compared one by one.
func TestFinderReadsKeysOnce(t *testing.T) {
	wide, narrow := yamlnode.Map(), yamlnode.Map()
	for i := range 1000 {
		wide.Content = append(wide.Content, yamlnode.String(fmt.Sprintf("key%d", i)), yamlnode.Int(int64(i)))
	}
	yamlnode.Set(narrow, "wide", wide)
	f := Finder{top: narrow, origins: map[*yaml.Node]Origin{}, wide: map[*yaml.Node]*yamlnode.Fields{}}
	for i := range 1000 {
		if found := f.NodeAt(fmt.Sprintf("wide.key%d", i)); found == nil || found.Value != fmt.Sprint(i) {
			t.Fatalf("key%d is %v", i, found)
		}
	}
	if len(f.wide) != 1 || f.wide[wide] == nil {
		t.Errorf("the keys of %d mappings are cached, want only those of the wide mapping", len(f.wide))
	}
	kept := f.wide[wide]
	if f.NodeAt("wide.none") != nil || f.OriginAt("wide.key7") != FromBase || f.wide[wide] != kept {
		t.Error("the keys are read again, or a lookup has a wrong result")
	}
}
