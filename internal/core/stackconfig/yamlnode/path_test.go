package yamlnode_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func TestPath(t *testing.T) {
	var root *yamlnode.Path
	a := root.Below()
	b := a.Key("a").Below()
	c := b.Item(2).Below()
	for want, path := range map[string]*yamlnode.Path{"": root, "a[2].c": c.Key("c")} {
		if got := path.String(); got != want {
			t.Errorf("the path is %q, want %q", got, want)
		}
	}
	if got := c.Item(0).String(); got != "a[2][0]" {
		t.Errorf("the path of an item of an item is %q", got)
	}
	if got := a.Item(1).String(); got != "[1]" {
		t.Errorf("the path of an item of the root is %q", got)
	}
}
