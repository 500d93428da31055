package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Identities uses the identity of the operator's own pod to get credentials for cloud registries.
type Identities interface {
	// Credentials returns the credentials for a registry that imagename.CloudOf recognizes. The error is the context's
	// error or an IdentityError.
	Credentials(ctx context.Context, registry string) (authn.AuthConfig, error)
	// Refused records that the registry did not accept the credentials.
	Refused(registry string)
}

// IdentityError is the reason why the operator's own identity yields no credentials. It contains no text that a remote
// host wrote.
type IdentityError interface {
	error
	// Transient reports whether a retry can succeed.
	Transient() bool
	// Pause returns the pause that the cloud requests. Zero means that the cloud requests no pause.
	Pause() time.Duration
}

// identity authenticates with the operator's own identity. It requests a token only when a registry requires
// credentials. Its fingerprint does not change when the token changes.
type identity struct {
	from     Identities
	cloud    imagename.Cloud
	registry string
}

// Authorization implements authn.Authenticator.
func (i *identity) Authorization() (*authn.AuthConfig, error) {
	return i.AuthorizationContext(context.Background())
}

// AuthorizationContext returns the current credentials.
func (i *identity) AuthorizationContext(ctx context.Context) (*authn.AuthConfig, error) {
	config, err := i.from.Credentials(ctx, i.registry)
	return &config, err
}

// orIdentity returns the operator's identity for the cloud that hosts a repository when no other credentials match the
// repository and an administrator allows the identity for it. The package never sends the token to a registry whose
// certificate is not checked, or to a host that might not belong to the cloud.
func (o Options) orIdentity(auth authn.Authenticator, repository name.Repository) authn.Authenticator {
	if auth != authn.Anonymous {
		return auth
	}
	registry := repository.RegistryStr()
	cloud, known := imagename.CloudOf(registry)
	if o.Identities == nil || !known || o.isInsecure(registry) ||
		!imagename.HasAnyPrefix(repository.Name(), o.CloudIdentity) {
		return authn.Anonymous
	}
	return &identity{from: o.Identities, cloud: cloud, registry: registry}
}

// errForeignRealm is the error for a registry whose token server does not belong to its cloud.
var errForeignRealm = errors.New("the registry requires a token from a host that must not receive the operator's identity; add a pull Secret to the stack")

// settle replaces an identity with its current credentials, or with anonymous credentials if the registry requires
// none. It returns all other credentials unchanged.
func (r *Reader) settle(
	ctx context.Context, auth authn.Authenticator, challenge *transport.Challenge,
) (authn.Authenticator, error) {
	own, ok := auth.(*identity)
	switch {
	case !ok:
		return auth, nil
	case challenge.Scheme == "":
		return authn.Anonymous, nil
	case isBearer(challenge):
		realm, err := url.Parse(challenge.Parameters["realm"])
		if err != nil {
			return nil, errRealm
		}
		cloud, _ := imagename.CloudOf(imagename.Registry(realm.Host))
		if realm.Scheme != "https" || cloud != own.cloud || r.options.isInsecure(realm.Host) {
			return nil, errForeignRealm
		}
	}
	config, err := own.AuthorizationContext(ctx)
	if err != nil {
		if _, ok := errors.AsType[IdentityError](err); ok {
			return nil, err
		}
		return nil, sanitize(err)
	}
	return authn.FromConfig(*config), nil
}

// told adds a remedy to an error if the registry refused the operator's identity (status 401 or 403). If the registry
// did not accept the token (status 401), told also reports this to Identities. Only the remedy shows a user that a pull
// Secret is missing, or that the operator lacks a permission.
func told(auth authn.Authenticator, err error) error {
	own, ok := auth.(*identity)
	status := statusOf(err)
	if !ok || status != http.StatusUnauthorized && status != http.StatusForbidden {
		return err
	}
	if status == http.StatusUnauthorized {
		own.from.Refused(own.registry)
	}
	return fmt.Errorf("%w when the operator uses its identity at %s; allow that identity to read the repository, or add a pull Secret to the stack", err, own.cloud)
}
