package cloud

import (
	"context"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
)

// googleToken is the address at which a pod, or a machine in Google Cloud, gets a token for its own service account.
const googleToken = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"

// maxSeconds bounds the lifetime of a token whose expiry is given in seconds.
const maxSeconds = int64(mostLife / time.Second)

const googleRemedy = "give the operator's ServiceAccount the role roles/artifactregistry.reader with Workload Identity " +
	"Federation for GKE, or add a pull Secret to the stack"

// google gets an access token for the pod's service account. Every Google registry accepts it as the password of a user
// with a fixed name.
func (i *Identities) google(ctx context.Context, _ string) (credentials, error) {
	var said struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	now := time.Now()
	err := i.client.askJSON(ctx, request{
		method: "GET", url: googleToken, service: true, header: map[string]string{"Metadata-Flavor": "Google"},
	}, &said)
	if err == nil && said.AccessToken == "" {
		err = errNonsense
	}
	if err != nil {
		return credentials{}, err
	}
	return credentials{
		config:  authn.AuthConfig{Username: "oauth2accesstoken", Password: said.AccessToken},
		expires: now.Add(time.Duration(min(said.ExpiresIn, maxSeconds)) * time.Second),
	}, nil
}
