package absorb

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// factoryLine is the first release line for which the uvicorn factory starts the server of a v1alpha1 stack with a
// userConfig. The factory passes host, port and workers to the server as arguments, and the server does not read them
// from the configuration. With a generated configuration, the server reads host and workers from the configuration. It
// also reads the port, unless its release ignores server.port.
const factoryLine = "0.3"

// factoryHost is the host that the factory listens on.
const factoryHost = "0.0.0.0"

// asStarted adds to the user's configuration the values that the server of the current stack receives as arguments. A
// configuration that is generated from the fields must contain these values too.
func (b *builder) asStarted() {
	if !profile.Of(b.Object.Annotations).MountsConfigMap || intent.OwnCommand(&b.Object.Spec) ||
		release.Compare(b.Distribution.Release.Line, factoryLine) < 0 {
		return
	}
	server, ok := b.want["server"].(object)
	if !ok {
		if b.want["server"] != nil {
			return // The later comparison reports this difference.
		}
		server = object{}
		b.want["server"] = server
	}
	arguments := b.factoryArguments()
	for _, key := range sortedKeys(arguments) {
		if written, there := server[key]; there && !equal(written, arguments[key]) {
			b.remarks = append(b.remarks, fmt.Sprintf(
				"server.%s in config.yaml had no effect, because the operator passed another value to the server as an argument.", key))
		}
		if server[key] = arguments[key]; arguments[key] == nil {
			delete(server, key)
		}
	}
	if server["insecure"] == nil && b.Distribution.Release.Runtime.PlainHTTPRefused {
		server["insecure"] = true // Even without this setting, the factory serves plain HTTP.
	}
}

// factoryArguments returns the settings that the factory passes to the server. Nil means that it passes no value.
func (b *builder) factoryArguments() object {
	arguments := object{"host": factoryHost, "port": whole(int(b.Intent.Server.Port)), "workers": nil}
	if workers := b.Intent.Server.Workers; workers > 0 {
		arguments["workers"] = whole(int(workers))
	}
	return arguments
}
