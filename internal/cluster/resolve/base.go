package resolve

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// KeptBase returns the base configuration from the ConfigMap that the stack's record names (decision 0004). It returns
// nil if that ConfigMap does not exist or the stack does not own it.
func (c *ConfigMaps) KeptBase(
	ctx context.Context, stack types.NamespacedName, owner types.UID, name string,
) ([]byte, error) {
	of, keys := user{stack: stack, base: true}, []string{names.BaseFile}
	found, err := c.read(ctx, of, types.NamespacedName{Namespace: stack.Namespace, Name: name}, name, keys)
	if err != nil || found == nil || found.controller != owner {
		return nil, err
	}
	c.memory.put(of, map[string]*content{name: found})
	return found.bytes()[names.BaseFile], nil
}
