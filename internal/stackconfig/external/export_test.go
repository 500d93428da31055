package external

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// ClassOf is the class that a package's schema becomes, nil without one.
func ClassOf(found *externalprovider.Package) *schema.Class {
	if kind := kindOf(found); kind != nil {
		return kind.Config
	}
	return nil
}
