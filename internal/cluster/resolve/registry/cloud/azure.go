package cloud

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
)

const (
	// azureAudience is the audience of tokens for registries, in every Azure cloud.
	azureAudience = "https://containerregistry.azure.net"
	// azureMachine is the address at which an Azure machine returns the token for a managed identity.
	azureMachine = "http://169.254.169.254/metadata/identity/oauth2/token"
	// azureAuthority is the authority for federated tokens, unless the environment names a different authority.
	azureAuthority = "https://login.microsoftonline.com/"
	// azureUser is the user name that is used with a token as the password.
	azureUser = "00000000-0000-0000-0000-000000000000"
	// azureLife is the assumed lifetime of a registry token without an expiry time.
	azureLife = 10 * time.Minute

	azureRemedy = "give the operator's ServiceAccount a workload identity with the role AcrPull, or add a pull Secret to the stack"
)

// azureCodes contains the error codes in the documentation for the token endpoints.
var azureCodes = []string{
	"invalid_client", "invalid_grant", "invalid_request", "invalid_scope", "unauthorized_client",
	"temporarily_unavailable",
	"UNAUTHORIZED", "DENIED",
}

// azure gets a token for the pod's identity and exchanges it for a registry token.
func (i *Identities) azure(ctx context.Context, registry string) (credentials, error) {
	token, err := i.azureToken(ctx)
	if err != nil {
		return credentials{}, err
	}
	var said struct {
		RefreshToken string `json:"refresh_token"`
	}
	now := time.Now()
	err = i.client.askJSON(ctx, form("https://"+registry+"/oauth2/exchange", url.Values{
		"grant_type": {"access_token"}, "service": {registry}, "access_token": {token},
	}), &said)
	if err == nil && said.RefreshToken == "" {
		err = errNonsense
	}
	if err != nil {
		return credentials{}, err
	}
	return credentials{
		config:  authn.AuthConfig{Username: azureUser, Password: said.RefreshToken},
		expires: expiryOf(said.RefreshToken, now.Add(azureLife)),
	}, nil
}

// azureToken returns a token for the pod's workload identity, or for the machine's managed identity if there is no
// workload identity.
func (i *Identities) azureToken(ctx context.Context) (string, error) {
	asked := azureManaged()
	if file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE"); file != "" {
		var err error
		if asked, err = azureFederated(file); err != nil {
			return "", err
		}
	}
	var said struct {
		AccessToken string `json:"access_token"`
	}
	err := i.client.askJSON(ctx, asked, &said)
	if err == nil && said.AccessToken == "" {
		err = errNonsense
	}
	return said.AccessToken, err
}

// azureManaged returns the request for a token for the machine's managed identity, or for the managed identity that the
// environment names.
func azureManaged() request {
	query := url.Values{"api-version": {"2018-02-01"}, "resource": {azureAudience}}
	if id := os.Getenv("AZURE_CLIENT_ID"); id != "" {
		query.Set("client_id", id)
	}
	return request{method: "GET", url: azureMachine + "?" + query.Encode(), service: true, header: map[string]string{"Metadata": "true"}}
}

// azureFederated returns the request that exchanges the token of the pod's ServiceAccount.
func azureFederated(file string) (request, error) {
	assertion, err := os.ReadFile(file)
	if err != nil {
		return request{}, fmt.Errorf("read AZURE_FEDERATED_TOKEN_FILE: %w", errors.Unwrap(err))
	}
	tenant, id := os.Getenv("AZURE_TENANT_ID"), os.Getenv("AZURE_CLIENT_ID")
	if tenant == "" || id == "" {
		return request{}, fmt.Errorf("%w: AZURE_TENANT_ID or AZURE_CLIENT_ID is not set", errNoIdentity)
	}
	authority := strings.TrimSuffix(cmp.Or(os.Getenv("AZURE_AUTHORITY_HOST"), azureAuthority), "/")
	return form(authority+"/"+url.PathEscape(tenant)+"/oauth2/v2.0/token", url.Values{
		"client_id": {id}, "scope": {azureAudience + "/.default"}, "grant_type": {"client_credentials"},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
		"client_assertion":      {strings.TrimSpace(string(assertion))},
	}), nil
}

func form(target string, values url.Values) request {
	return request{
		method: "POST", url: target, body: values.Encode(), codes: azureCodes,
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
	}
}

// expiryOf returns the expiry time in the claims of a token. If the claims have no expiry time, it returns its second
// argument. Only the registry verifies the token.
func expiryOf(token string, otherwise time.Time) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return otherwise
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(content, &claims) != nil || claims.Expires <= 0 {
		return otherwise
	}
	return time.Unix(claims.Expires, 0)
}
