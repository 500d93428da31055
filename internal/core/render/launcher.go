package render

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// launcher starts the server with $LLAMA_STACK_CONFIG. It supports any release, and determines the release from the
// Python packages in the image. Up to 0.2, it uses the server's module. From 0.3 on, it uses the uvicorn factory. From
// 0.8 on, the package of the factory has a new name. The servers of v1alpha1 stacks with a userConfig have always been
// started in this way, without the image's entrypoint. A server that is started in this way does not read the port, the
// number of workers, or the certificates from its configuration (server fact 39).
//
// A version can have a suffix (0.2.16rc1, 0.2.14+rhai0, 0.2.9.post1), so a number ends at the first character that is
// not a digit.
const launcher = `python=$(command -v python || command -v python3) || { echo "this image has no Python" >&2; exit 1; }
version() { "$python" -c 'import sys; from importlib.metadata import version; print(version(sys.argv[1]))' "$1" 2>/dev/null; }
export LLAMA_STACK_PORT="$LLS_PORT"
if version ogx >/dev/null; then
  module=ogx
  export OGX_CONFIG="$LLAMA_STACK_CONFIG"
else
  module=llama_stack
  case "$(version llama-stack)" in
  0.[01] | 0.[01][!0-9]* | 0.2 | 0.2[!.0-9]* | 0.2.[0-9] | 0.2.[0-9][!0-9]* | 0.2.1[0-6] | 0.2.1[0-6][!0-9]*)
    exec "$python" -m llama_stack.distribution.server.server --config "$LLAMA_STACK_CONFIG" ;;
  0.2.*)
    exec "$python" -m llama_stack.core.server.server "$LLAMA_STACK_CONFIG" ;;
  esac
fi
exec "$python" -m uvicorn "$module.core.server.server:create_app" --factory \
  --host 0.0.0.0 --port "$LLS_PORT" --workers "$LLS_WORKERS"
`

// command returns the command of the server's container. The user's command takes precedence, followed by the launcher
// if it is requested, a command that updates the registry and then runs the image's entrypoint, and the release's
// command if the entrypoint does not look for the configuration. Without a command, the container runs the image's
// entrypoint.
func command(in Input) []string {
	user := intent.Overrides(&in.Stack.Spec).Command
	switch {
	case len(user) > 0:
		return user
	case in.Launcher:
		return shell(launcher)
	case startsWrapped(in):
		return shell(startupScript, append([]string{registryProgram, names.ConfigPath}, in.Registry.Start...)...)
	case in.Config != nil && len(in.Server.Command) > 0:
		return append(slices.Clone(in.Server.Command), names.ConfigPath)
	default:
		return nil
	}
}
