package release

import "github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"

// Offline describes the variables and files that a server without internet access needs (server fact 67,
// decision 0022).
type Offline struct {
	// Variables are environment variables that prevent libraries from connecting to the internet, sorted by name.
	Variables []OfflineVariable
	// Tokenizer is the tiktoken tokenizer that the vector stores load when they start: `cl100k_base`. The server does not
	// start without it. Empty means that the server's own package contains everything that the vector stores need.
	Tokenizer string
}

// OfflineVariable is an environment variable with its value.
type OfflineVariable struct{ Name, Value string }

// offlineRow contains the fields of the entry `offline` in the overlays. The keys of Services and Downloads, and the
// items of ServicesAtStart, are providers of several lines, written as api/type. A line ignores the providers that it
// does not have.
type offlineRow struct {
	Variables map[string]string `json:"variables"`
	Tokenizer string            `json:"tokenizer"`
	// Services are the hosts of public services that providers call when no endpoint is set.
	Services map[string]string `json:"services"`
	// ServicesAtStart are the providers whose services the server must reach to start.
	ServicesAtStart []string `json:"services_at_start"`
	// Downloads are the hosts from which providers load files when they first need them.
	Downloads map[string]string `json:"downloads"`
}

func (o *offlineRow) build() Offline {
	built := Offline{Tokenizer: o.Tokenizer}
	for _, name := range sortedKeys(o.Variables) {
		built.Variables = append(built.Variables, OfflineVariable{name, o.Variables[name]})
	}
	return built
}

// mark sets the services and downloads of a provider type.
func (o *offlineRow) mark(t *provider.Type) {
	name := t.API + "/" + t.Type
	t.Service, t.Downloads = o.Services[name], o.Downloads[name]
	for _, other := range o.ServicesAtStart {
		t.ServiceAtStart = t.ServiceAtStart || other == name
	}
}
