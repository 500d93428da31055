package resolve

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// KeptBase returns the base configuration from the ConfigMap that the stack's record names (decision 0004). It returns
// nil if that ConfigMap does not exist or the stack does not own it.
func (c *ConfigMaps) KeptBase(
	ctx context.Context, stack types.NamespacedName, owner types.UID, name string,
) ([]byte, error) {
	found, err := c.read(ctx, c.bases, stack, types.NamespacedName{Namespace: stack.Namespace, Name: name}, name)
	if err != nil || found == nil || found.controller != owner {
		return nil, err
	}
	c.mu.Lock()
	c.bases[stack] = map[string]content{name: *found}
	c.mu.Unlock()
	return found.bytes()[names.ConfigFile], nil
}
