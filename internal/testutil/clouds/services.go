package clouds

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// These are the identities and credentials of the operator's pod in the clouds, as the services below expect them.
const (
	Role            = "arn:aws:iam::123456789012:role/operator"
	WebIdentity     = "web-identity-" + Secret
	ContainerToken  = "container-" + Secret
	Tenant          = "72f988bf-86f1-41af-91ab-2d7cd011db47"
	Client          = "11111111-2222-3333-4444-555555555555"
	FederatedToken  = "federated-" + Secret
	Region          = "eu-west-1"
	ECRPassword     = "ecr-" + Secret
	GoogleToken     = "google-" + Secret
	accessKey       = "AKIAOPERATOR"
	sessionToken    = "session-" + Secret
	machineSession  = "imds-" + Secret
	azureAudience   = "https://containerregistry.azure.net"
	azureTokenValue = "aad-" + Secret
)

// services returns the responses of all services, keyed by place.
func services() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"sts." + Region + ".amazonaws.com/":                          webIdentity,
		"169.254.170.23/v1/credentials":                              container,
		"169.254.170.2/role":                                         wanted(nil, giveKeys),
		"169.254.169.254/latest/api/token":                           machineToken,
		"169.254.169.254/latest/meta-data/iam/security-credentials/": machineKeys,
		"api.ecr." + Region + ".amazonaws.com/":                      ecrToken,
		"metadata.google.internal/computeMetadata/v1/instance/":      wanted(map[string]string{"Metadata-Flavor": "Google"}, giveGoogle),
		"login.microsoftonline.com/" + Tenant + "/oauth2/v2.0/token": azureFederated,
		"169.254.169.254/metadata/identity/oauth2/token":             azureManaged,
		"team.azurecr.io/oauth2/exchange":                            azureExchange,
	}
}

// wanted returns a handler that rejects requests without the given headers.
func wanted(headers map[string]string, answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for key, value := range headers {
			if r.Header.Get(key) != value {
				refuse(w, http.StatusForbidden, "missing "+key)
				return
			}
		}
		answer(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	http.Error(w, why+" "+Secret, status)
}

// Give returns a handler that responds with `content` as JSON.
func Give(content any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(content)
	}
}

// form reports whether a request sends a form with the given values.
func form(r *http.Request, values map[string]string) bool {
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		return false
	}
	for key, value := range values {
		if r.PostForm.Get(key) != value {
			return false
		}
	}
	return true
}

func webIdentity(w http.ResponseWriter, r *http.Request) {
	if !form(r, map[string]string{
		"Action": "AssumeRoleWithWebIdentity", "RoleArn": Role,
		"WebIdentityToken": WebIdentity,
	}) {
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>%s</Message></Error></ErrorResponse>", Secret)
		return
	}
	fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>
<SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials>
</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, accessKey, Secret, sessionToken, inAnHour())
}

func inAnHour() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

func container(w http.ResponseWriter, r *http.Request) {
	wanted(map[string]string{"Authorization": ContainerToken}, giveKeys)(w, r)
}

func giveKeys(w http.ResponseWriter, r *http.Request) {
	Give(map[string]string{
		"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": inAnHour(),
		"AccessKeyId": accessKey, "SecretAccessKey": Secret, "Token": sessionToken, "Expiration": inAnHour(),
	})(w, r)
}

func machineToken(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut || r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") == "" {
		refuse(w, http.StatusBadRequest, "no session")
		return
	}
	w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
	_, _ = w.Write([]byte(machineSession))
}

func machineKeys(w http.ResponseWriter, r *http.Request) {
	wanted(map[string]string{"X-Aws-Ec2-Metadata-Token": machineSession}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			_, _ = w.Write([]byte("node-role"))
			return
		}
		giveKeys(w, r)
	})(w, r)
}

func ecrToken(w http.ResponseWriter, r *http.Request) {
	signed := r.Header.Get("Authorization")
	if r.Header.Get("X-Amz-Target") != "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken" ||
		!strings.HasPrefix(signed, "AWS4-HMAC-SHA256 Credential=") ||
		!strings.Contains(signed, "/"+Region+"/ecr/aws4_request") {
		refuse(w, http.StatusBadRequest, `{"__type":"UnrecognizedClientException"}`)
		return
	}
	Give(ECRAnswer(time.Now().Add(12*time.Hour)))(w, r)
}

// ECRAnswer returns ECR's response with a token.
func ECRAnswer(expires time.Time) any {
	token := base64.StdEncoding.EncodeToString([]byte("AWS:" + ECRPassword))
	return map[string]any{"authorizationData": []any{map[string]any{
		"authorizationToken": token,
		"expiresAt":          float64(expires.UnixMilli()) / 1000,
	}}}
}

func giveGoogle(w http.ResponseWriter, r *http.Request) {
	Give(map[string]any{"access_token": GoogleToken, "expires_in": 3599, "token_type": "Bearer"})(w, r)
}

func azureFederated(w http.ResponseWriter, r *http.Request) {
	if !form(r, map[string]string{
		"client_id": Client, "scope": azureAudience + "/.default", "client_assertion": FederatedToken,
		"grant_type":            "client_credentials",
		"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
	}) {
		refuse(w, http.StatusBadRequest, `{"error":"invalid_client"}`)
		return
	}
	giveAzure(w, r)
}

func azureManaged(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if r.Header.Get("Metadata") != "true" || query.Get("resource") != azureAudience || !slices.Contains([]string{"", Client}, query.Get("client_id")) {
		refuse(w, http.StatusBadRequest, `{"error":"invalid_request"}`)
		return
	}
	giveAzure(w, r)
}

func giveAzure(w http.ResponseWriter, r *http.Request) {
	Give(map[string]any{"access_token": azureTokenValue, "expires_in": 3599, "token_type": "Bearer"})(w, r)
}

func azureExchange(w http.ResponseWriter, r *http.Request) {
	if !form(r, map[string]string{
		"grant_type": "access_token", "service": "team.azurecr.io",
		"access_token": azureTokenValue,
	}) {
		refuse(w, http.StatusUnauthorized, `{"errors":[{"code":"UNAUTHORIZED"}]}`)
		return
	}
	Give(map[string]string{"refresh_token": AzureToken(time.Now().Add(3 * time.Hour))})(w, r)
}

// AzureToken returns a token for an Azure registry. The token contains the given expiry time.
func AzureToken(expires time.Time) string {
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, expires.Unix()))
	return "header." + claims + "." + Secret
}
