package probe

import (
	"net"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// versionPath needs no authentication from release 0.3 on (server fact 34, server fact 35).
	versionPath = "/v1/version"
	// providersPath needs authentication if the server requires it.
	providersPath = "/v1/providers"
	// modelsPath needs authentication if the server requires it.
	modelsPath = "/v1/models"
)

// Target is a stack's server. It contains no address, because Locate finds the address for each request.
type Target struct {
	// Stack is the stack that the server belongs to.
	Stack types.NamespacedName
	// Deployment is the UID of the Deployment whose pods respond.
	Deployment types.UID
	// Rollout identifies the rollout whose pods respond.
	Rollout string
	// Port is the port of the pods.
	Port int32
	// TLS reports whether the server uses HTTPS.
	TLS bool
	// MCP reports whether the server can have MCP servers. If not, the prober does not request them.
	MCP bool
	// Certificate is the SHA-256, in hex, of the certificate that the server has to present. Empty means that the
	// certificate is unknown, and that the prober accepts any certificate.
	Certificate string
}

// url returns a URL with the name of the stack's Service, which the server sees as the name that the client asks for.
// The client never resolves this name: a tenant can make a Service lead anywhere.
func (t Target) url(path string) string {
	host := names.Service(t.Stack.Name) + "." + t.Stack.Namespace + ".svc"
	address := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(t.Port))), Path: path}
	if t.TLS {
		address.Scheme = "https"
	}
	return address.String()
}
