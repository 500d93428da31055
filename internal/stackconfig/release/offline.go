package release

import "github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"

// Offline says what a server without a way to the internet has to be told, and what it has to be given.
type Offline struct {
	// Variables are environment variables that keep its libraries from looking outside, sorted by name.
	Variables []OfflineVariable
	// Tokenizer is the tokenizer of tiktoken that the vector stores load when they start: `cl100k_base`. Without it the
	// server ends. Empty: they have what they need in the server's own package.
	Tokenizer string
}

// OfflineVariable is an environment variable with its value.
type OfflineVariable struct{ Name, Value string }

// offlineRow is what the overlay says of it. The maps name providers of several lines as api/type; what the line does not
// have is passed over.
type offlineRow struct {
	Variables map[string]string `json:"variables"`
	Tokenizer string            `json:"tokenizer"`
	// Services are the hosts of public services that providers call where no endpoint is set.
	Services map[string]string `json:"services"`
	// ServicesAtStart are those of them without which the server does not start.
	ServicesAtStart []string `json:"services_at_start"`
	// Downloads are the hosts that providers load files from when they first need them.
	Downloads map[string]string `json:"downloads"`
}

func (o *offlineRow) build() Offline {
	built := Offline{Tokenizer: o.Tokenizer}
	for _, name := range sortedKeys(o.Variables) {
		built.Variables = append(built.Variables, OfflineVariable{name, o.Variables[name]})
	}
	return built
}

// mark notes what providers need.
func (o *offlineRow) mark(t *provider.Type) {
	name := t.API + "/" + t.Type
	t.Service, t.Downloads = o.Services[name], o.Downloads[name]
	for _, other := range o.ServicesAtStart {
		t.ServiceAtStart = t.ServiceAtStart || other == name
	}
}
