package manager

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// maxWarning is the most bytes of a warning that go to the log.
const maxWarning = 256

// verboseWarnings logs warnings of the API server at level debug. They are about what users wrote, an answer can have
// hundreds of them, and the same ones come with every write.
type verboseWarnings struct{}

var _ rest.WarningHandlerWithContext = verboseWarnings{}

// HandleWarningHeaderWithContext logs a warning.
func (verboseWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if code != 299 || text == "" { // the only code that client-go knows, RFC 7234 5.5.7
		return
	}
	log.FromContext(ctx).V(1).Info("The API server warns", "warning", status.Shorten(text, maxWarning))
}
