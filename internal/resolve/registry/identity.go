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

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// Identities give the credentials of clouds' registries by the identity of the operator's own pod.
type Identities interface {
	// Credentials gives those of a registry that imagename.CloudOf knows. Its errors are those of ctx, and IdentityErrors.
	Credentials(ctx context.Context, registry string) (authn.AuthConfig, error)
	// Refused tells that the registry does not take them.
	Refused(registry string)
}

// IdentityError is why the operator's own identity gives no credentials. It holds nothing that a remote host wrote.
type IdentityError interface {
	error
	// Transient reports whether it may pass by itself.
	Transient() bool
	// Pause is the one that the cloud asks for; zero: none.
	Pause() time.Duration
}

// identity are credentials of the operator's own. They are got when a registry wants some, and are the same ones however
// often the token changes.
type identity struct {
	from     Identities
	cloud    imagename.Cloud
	registry string
}

// Authorization makes it an authn.Authenticator.
func (i *identity) Authorization() (*authn.AuthConfig, error) {
	return i.AuthorizationContext(context.Background())
}

// AuthorizationContext gives the credentials of now.
func (i *identity) AuthorizationContext(ctx context.Context) (*authn.AuthConfig, error) {
	config, err := i.from.Credentials(ctx, i.registry)
	return &config, err
}

// orIdentity is, for a repository that nobody's credentials are for, the operator's identity at its cloud, where an
// administrator lets it be read with that. Nobody else gets the token: not a registry whose certificate is not checked, and
// no host that another than the cloud may serve.
func (o Options) orIdentity(auth authn.Authenticator, repository name.Repository) authn.Authenticator {
	if auth != authn.Anonymous {
		return auth
	}
	registry := repository.RegistryStr()
	cloud, known := imagename.CloudOf(registry)
	if o.Identities == nil || !known || o.isInsecure(registry) || !imagename.HasAnyPrefix(repository.Name(), o.CloudIdentity) {
		return authn.Anonymous
	}
	return &identity{from: o.Identities, cloud: cloud, registry: registry}
}

// errForeignRealm is the refusal of a registry that has its tokens elsewhere.
var errForeignRealm = errors.New("the registry wants a token from a host that does not get the operator's identity")

// settle turns an identity into the credentials of now, for a registry that wants some. Other credentials stay what they are.
func (r *Reader) settle(ctx context.Context, auth authn.Authenticator, challenge *transport.Challenge) (authn.Authenticator, error) {
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

// told adds to a refusal whose credentials were refused, and has those of an identity replaced. The wording is the only thing
// by which a user learns that a pull Secret, or a right of the operator's, is missing.
func told(auth authn.Authenticator, err error) error {
	own, ok := auth.(*identity)
	status := statusOf(err)
	if !ok || status != http.StatusUnauthorized && status != http.StatusForbidden {
		return err
	}
	if status == http.StatusUnauthorized {
		own.from.Refused(own.registry)
	}
	return fmt.Errorf("%w, to the operator's identity at %s; let that read the repository, or give the stack a pull Secret", err, own.cloud)
}
