package manager

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// renewToken makes a client read its token file again as soon as the API server rejects the token. By default, the
// client would keep the token for up to a minute.
func renewToken(config *rest.Config) {
	if config.BearerTokenFile == "" {
		return
	}
	config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(config.BearerTokenFile)))
	config.BearerToken, config.BearerTokenFile = "", ""
}
