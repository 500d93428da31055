package probe

import (
	"net"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// versionPath answers without authentication from release 0.3 on.
const versionPath = "/v1/version"

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
}

// url is independent of the cluster's domain.
func (t Target) url() string {
	host := names.Service(t.Stack.Name) + "." + t.Stack.Namespace + ".svc"
	address := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(t.Port))), Path: versionPath}
	if t.TLS {
		address.Scheme = "https"
	}
	return address.String()
}
