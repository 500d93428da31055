package probe

import (
	"net"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	// versionPath answers without authentication from release 0.3 on.
	versionPath = "/v1/version"
	// providersPath wants authentication where the server does.
	providersPath = "/v1/providers"
)

// Target is a stack's server. It has no address of its own: what is asked is the
// stack's Service, and nothing else.
type Target struct {
	// Stack that the server is of.
	Stack types.NamespacedName
	// Rollout tells the pods of one roll-out from those of the next.
	Rollout string
	// Port of the Service.
	Port int32
	// TLS says that the server speaks HTTPS.
	TLS bool
	// Certificate is the SHA-256 of the one that the server has to show, in hex.
	// Empty: it is not known, and any will do.
	Certificate string
}

// url is independent of the cluster's domain.
func (t Target) url(path string) string {
	host := names.Service(t.Stack.Name) + "." + t.Stack.Namespace + ".svc"
	address := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(t.Port))), Path: path}
	if t.TLS {
		address.Scheme = "https"
	}
	return address.String()
}
