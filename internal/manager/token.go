package manager

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// renewToken has a token that comes from a file read again as soon as the API
// server refuses it. Left to itself the client goes on with it for up to a minute.
func renewToken(config *rest.Config) {
	if config.BearerTokenFile == "" {
		return
	}
	config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(config.BearerTokenFile)))
	config.BearerToken, config.BearerTokenFile = "", ""
}
