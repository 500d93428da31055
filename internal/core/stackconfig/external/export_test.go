package external

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// ClassOf returns the class for a package's schema, or nil without a schema.
func ClassOf(found *externalprovider.Package) *schema.Class {
	if kind := kindOf(found); kind != nil {
		return kind.Config
	}
	return nil
}
