package cloud

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/clouds"
)

const (
	ecrRegistry    = clouds.ECR
	googleRegistry = clouds.Google
	azureRegistry  = clouds.Azure
)

// environment sets the environment of the operator's pod, without the cloud variables of this machine.
func environment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, variable := range os.Environ() {
		key, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(key, "AWS_") || strings.HasPrefix(key, "AZURE_") {
			t.Setenv(key, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	for key, value := range variables {
		t.Setenv(key, value)
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	testutil.Must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func identitiesOf(t *testing.T, stands *clouds.Clouds) *Identities {
	t.Helper()
	return New(Options{Public: stands.Public, Local: stands.Local})
}

// identityCase is a case of TestIdentities.
type identityCase struct {
	name, registry string
	environment    map[string]string
	want           authn.AuthConfig
	asked          []string
}

// TestIdentities covers every way to get an identity, and checks which hosts receive requests.
func TestIdentities(t *testing.T) {
	ecr := authn.AuthConfig{Username: "AWS", Password: clouds.ECRPassword}
	google := authn.AuthConfig{Username: "oauth2accesstoken", Password: clouds.GoogleToken}
	const endpoint = "api.ecr." + clouds.Region + ".amazonaws.com/"
	const machine = "169.254.169.254/latest/"
	for _, tc := range []identityCase{
		{
			name: "AWS, IRSA", registry: ecrRegistry, want: ecr,
			environment: map[string]string{
				"AWS_REGION": clouds.Region, "AWS_ROLE_ARN": clouds.Role,
				"AWS_WEB_IDENTITY_TOKEN_FILE": file(t, clouds.WebIdentity),
			},
			asked: []string{"sts." + clouds.Region + ".amazonaws.com/", endpoint},
		},
		{
			name: "AWS, EKS Pod Identity", registry: ecrRegistry, want: ecr,
			environment: map[string]string{
				"AWS_CONTAINER_CREDENTIALS_FULL_URI":     "http://169.254.170.23/v1/credentials",
				"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file(t, clouds.ContainerToken),
			},
			asked: []string{"169.254.170.23/v1/credentials", endpoint},
		},
		{
			name: "AWS, task", registry: ecrRegistry, want: ecr,
			environment: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/role"},
			asked:       []string{"169.254.170.2/role", endpoint},
		},
		{
			name: "AWS, machine", registry: ecrRegistry, want: ecr,
			asked: []string{machine + "api/token", machine + "meta-data/iam/security-credentials/", machine + "meta-data/iam/security-credentials/node-role", endpoint},
		},
		{
			name: "AWS, keys", registry: ecrRegistry, want: ecr,
			environment: map[string]string{"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": clouds.Secret},
			asked:       []string{endpoint},
		},
		{name: "Google", registry: googleRegistry, want: google, asked: []string{"metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"}},
		{
			name: "Azure, workload identity", registry: azureRegistry, want: authn.AuthConfig{Username: azureUser},
			environment: map[string]string{
				"AZURE_FEDERATED_TOKEN_FILE": file(t, clouds.FederatedToken),
				"AZURE_TENANT_ID":            clouds.Tenant, "AZURE_CLIENT_ID": clouds.Client,
			},
			asked: []string{
				"login.microsoftonline.com/" + clouds.Tenant + "/oauth2/v2.0/token",
				"team.azurecr.io/oauth2/exchange",
			},
		},
		{
			name: "Azure, managed identity", registry: azureRegistry, want: authn.AuthConfig{Username: azureUser},
			asked: []string{"169.254.169.254/metadata/identity/oauth2/token", "team.azurecr.io/oauth2/exchange"},
		},
		{
			name: "Azure, user-assigned managed identity", registry: azureRegistry, want: authn.AuthConfig{Username: azureUser},
			environment: map[string]string{"AZURE_CLIENT_ID": clouds.Client},
			asked:       []string{"169.254.169.254/metadata/identity/oauth2/token", "team.azurecr.io/oauth2/exchange"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.check(t)
		})
	}
}

func (tc identityCase) check(t *testing.T) {
	t.Helper()
	environment(t, tc.environment)
	stands := clouds.Serve(t)
	identities := identitiesOf(t, stands)
	for range 2 { // the second call sends no request
		got, err := identities.Credentials(t.Context(), tc.registry)
		testutil.Must(t, err)
		if tc.want.Username == azureUser {
			tc.want.Password = clouds.AzureToken(expiryOf(got.Password, time.Time{}))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("credentials (-want +got):\n%s", diff)
		}
	}
	var asked []string
	for _, one := range stands.Asked("") {
		asked = append(asked, one.Place)
	}
	if diff := cmp.Diff(tc.asked, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
