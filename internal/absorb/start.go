package absorb

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// factoryLine is the first release line whose server a v1alpha1 stack with a userConfig starts with the uvicorn
// factory. The server then gets host, port and workers as arguments, and does not read them from the configuration.
// From a generated configuration it reads all of them.
const factoryLine = "0.3"

// factoryHost is the host that the factory listens on.
const factoryHost = "0.0.0.0"

// asStarted adds to the user's configuration the values that the server gets in other ways today, so that the fields
// have to give them.
func (b *builder) asStarted() {
	runtime := b.Distribution.Release.Runtime
	factory := names.Compat(b.Object.Annotations) && !intent.OwnCommand(&b.Object.Spec) &&
		release.Compare(b.Distribution.Release.Line, factoryLine) >= 0
	if !factory {
		return
	}
	server, ok := b.want["server"].(object)
	if !ok {
		if b.want["server"] != nil {
			return // the comparison reports it
		}
		server = object{}
		b.want["server"] = server
	}
	told := map[string]any{"host": factoryHost, "port": whole(int(b.Intent.Server.Port)), "workers": nil}
	if workers := b.Intent.Server.Workers; workers > 0 {
		told["workers"] = whole(int(workers))
	}
	for _, key := range sortedKeys(told) {
		if written, there := server[key]; there && !equal(written, told[key]) {
			b.remarks = append(b.remarks, fmt.Sprintf("server.%s in config.yaml had no effect, because the server was started "+
				"with another value.", key))
		}
		if server[key] = told[key]; told[key] == nil {
			delete(server, key)
		}
	}
	if server["insecure"] == nil && runtime.PlainHTTPRefused {
		server["insecure"] = true // the factory does not check it
	}
}
