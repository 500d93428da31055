package absorb

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// factoryLine is the first line of releases whose server a stack of v1alpha1 with a userConfig starts by the uvicorn
// factory. It is then told host, port and workers, and does not read them from the configuration. A generated
// configuration is read whole.
const factoryLine = "0.3"

// factoryHost is what the factory listens on.
const factoryHost = "0.0.0.0"

// asStarted writes into the user's configuration what the server is told in other ways today, so that the fields have to give that.
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
			return // the comparison tells
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
			b.remarks = append(b.remarks, fmt.Sprintf("server.%s of config.yaml has had no effect: the stack was started with another value.", key))
		}
		if server[key] = told[key]; told[key] == nil {
			delete(server, key)
		}
	}
	if server["insecure"] == nil && runtime.PlainHTTPRefused {
		server["insecure"] = true // the factory never asks
	}
}
