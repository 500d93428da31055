package cloud

import (
	"context"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// googleToken is where a machine of Google Cloud, or the node for a pod, gives the token of its service account.
const googleToken = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"

// maxSeconds bounds the life of a token that is said in seconds.
const maxSeconds = int64(mostLife / time.Second)

const googleRemedy = "bind the operator's ServiceAccount to a principal by Workload Identity Federation for GKE, or give the stack a pull Secret"

// google gets an access token of the pod's service account. Every registry of Google takes it, as the password of a user of
// a fixed name.
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
		return credentials{}, fail(imagename.Google, err, googleRemedy)
	}
	return credentials{
		config:  authn.AuthConfig{Username: "oauth2accesstoken", Password: said.AccessToken},
		expires: now.Add(time.Duration(min(said.ExpiresIn, maxSeconds)) * time.Second),
	}, nil
}
