package manager

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// maxWarning is the maximum length of a logged warning in bytes.
const maxWarning = 256

// verboseWarnings logs warnings from the API server at debug level. The warnings are about users' objects. A response
// can have hundreds of them, and every write repeats them.
type verboseWarnings struct{}

var _ rest.WarningHandlerWithContext = verboseWarnings{}

// HandleWarningHeaderWithContext logs a warning.
func (verboseWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if code != 299 || text == "" { // client-go handles only this code (RFC 7234 5.5.7).
		return
	}
	log.FromContext(ctx).V(1).Info("The API server returned a warning", "warning", status.Shorten(text, maxWarning))
}
