package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/clouds"
)

// way is a way to get an identity, with all places to which requests are sent.
type way struct {
	registry    string
	cloud       imagename.Cloud
	environment map[string]string
	places      []string
}

func ways(t *testing.T) map[string]way {
	t.Helper()
	const ecr = "api.ecr." + clouds.Region + ".amazonaws.com/"
	return map[string]way{
		"IRSA": {
			ecrRegistry, imagename.AWS,
			map[string]string{
				"AWS_REGION": clouds.Region, "AWS_ROLE_ARN": clouds.Role,
				"AWS_WEB_IDENTITY_TOKEN_FILE": file(t, clouds.WebIdentity),
			},
			[]string{"sts." + clouds.Region + ".amazonaws.com/", ecr},
		},
		"EKS Pod Identity": {ecrRegistry, imagename.AWS, map[string]string{
			"AWS_CONTAINER_CREDENTIALS_FULL_URI":     "http://169.254.170.23/v1/credentials",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file(t, clouds.ContainerToken),
		}, []string{"169.254.170.23/v1/credentials"}},
		"EC2": {ecrRegistry, imagename.AWS, nil, []string{
			"169.254.169.254/latest/api/token", "169.254.169.254/latest/meta-data/iam/security-credentials/",
			"169.254.169.254/latest/meta-data/iam/security-credentials/node-role",
		}},
		"GKE": {googleRegistry, imagename.Google, nil, []string{"metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"}},
		"workload identity": {
			azureRegistry, imagename.Azure,
			map[string]string{
				"AZURE_FEDERATED_TOKEN_FILE": file(t, clouds.FederatedToken), "AZURE_TENANT_ID": clouds.Tenant,
				"AZURE_CLIENT_ID": clouds.Client,
			},
			[]string{"login.microsoftonline.com/" + clouds.Tenant + "/oauth2/v2.0/token", "team.azurecr.io/oauth2/exchange"},
		},
		"managed identity": {azureRegistry, imagename.Azure, nil, []string{"169.254.169.254/metadata/identity/oauth2/token"}},
	}
}

// hostile is a response that any of the places can send.
type hostile struct {
	name      string
	answer    http.HandlerFunc
	want      string
	transient bool
	pause     time.Duration
}

func says(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for key, value := range header {
			w.Header().Set(key, value)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func hostileAnswers() []hostile {
	nonsense := errNonsense.Error()
	return []hostile{
		{name: "nothing", answer: says(200, nil, ""), want: nonsense, transient: true},
		{name: "not JSON", answer: says(200, nil, "<html>"+clouds.Secret), want: nonsense, transient: true},
		{name: "other JSON", answer: says(200, nil, `[{"token":"`+clouds.Secret+`"}]`), want: nonsense, transient: true},
		{name: "JSON without a token", answer: says(200, nil, `{"a":"`+clouds.Secret+`"}`), want: nonsense, transient: true},
		{name: "huge", answer: says(200, nil, `{"access_token":"`+strings.Repeat(clouds.Secret, maxAnswer/8)+`"}`), want: errLarge.Error(), transient: true},
		{
			name: "slow", answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			want: failure.ErrNoAnswer.Error(), transient: true,
		},
		{
			name: "stops in the middle", want: failure.ErrNoAnswer.Error(), transient: true,
			answer: func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte(`{"access_token":"` + clouds.Secret))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			},
		},
		{name: "cut off", answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: "the connection closed before the response was complete", transient: true},
		{name: "unauthorized", answer: says(401, nil, clouds.Secret), want: "status 401 Unauthorized"},
		{name: "forbidden", answer: says(403, nil, clouds.Secret), want: "status 403 Forbidden"},
		{name: "not found", answer: says(404, nil, clouds.Secret), want: "status 404 Not Found"},
		{name: "redirect", answer: says(307, map[string]string{"Location": "https://elsewhere.example.com/" + clouds.Secret},
			""), want: "status 307 Temporary Redirect"},
		{name: "too many requests", answer: says(429, nil, clouds.Secret), want: "status 429 Too Many Requests", transient: true, pause: 10 * time.Second},
		{
			name: "too many requests, with a pause of a minute", answer: says(429, map[string]string{"Retry-After": "60"}, ""),
			want: "status 429 Too Many Requests", transient: true, pause: time.Minute,
		},
		{
			name: "down", answer: says(503, map[string]string{"Retry-After": "99999999999999999999"}, clouds.Secret),
			want: "status 503 Service Unavailable", transient: true, pause: time.Hour,
		},
		{name: "broken", answer: says(500, nil, clouds.Secret), want: "status 500 Internal Server Error", transient: true},
	}
}

// TestHostileAnswers sends every response from every place, and checks the message and the time of the next attempt.
func TestHostileAnswers(t *testing.T) {
	for name, way := range ways(t) {
		for _, place := range way.places {
			for _, tc := range hostileAnswers() {
				t.Run(name+"/"+place+"/"+tc.name, func(t *testing.T) { tc.run(t, &way, place) })
			}
		}
	}
}

func (tc *hostile) run(t *testing.T, way *way, place string) {
	environment(t, way.environment)
	stands := clouds.Serve(t)
	stands.On(place, tc.answer)
	identities := identitiesOf(t, stands)
	if tc.want == failure.ErrNoAnswer.Error() {
		identities.within = 100 * time.Millisecond
	}
	got, err := identities.Credentials(t.Context(), way.registry)
	failure, ok := errors.AsType[*Failure](err)
	if !ok {
		t.Fatalf("got %+v, %v", got, err)
	}
	host, _, _ := strings.Cut(place, "/")
	text := err.Error()
	if !strings.HasPrefix(text, fmt.Sprintf("get a token for the operator's identity at %s: ", way.cloud)) || !strings.Contains(text, tc.want) ||
		tc.want != errNonsense.Error() && !strings.Contains(text, fmt.Sprintf("contact %q: ", host)) {
		t.Errorf("the error is %q, want the cloud, the host and %q in it", text, tc.want)
	}
	if strings.Contains(text, clouds.Secret) || strings.Contains(fmt.Sprintf("%+v", errors.Unwrap(err)), clouds.Secret) {
		t.Errorf("the error shows a secret: %q", text)
	}
	if failure.Transient() != tc.transient || failure.Pause() != tc.pause {
		t.Errorf("transient %t after %v, want %t after %v: %s", failure.Transient(), failure.Pause(), tc.transient, tc.pause, text)
	}
	if !tc.transient && !strings.Contains(text, "or add a pull Secret to the stack") {
		t.Errorf("the error does not name a remedy: %q", text)
	}
	// A failed step is not bypassed, and the next request is not sent immediately.
	before := len(stands.Asked(""))
	if _, err := identities.Credentials(t.Context(), way.registry); err == nil || len(stands.Asked("")) != before {
		t.Errorf("another request was sent immediately: %v", err)
	}
	if elsewhere := stands.Asked("elsewhere.example.com"); len(elsewhere) > 0 {
		t.Errorf("followed a redirect: %v", elsewhere)
	}
}

// otherFailure is a case of TestOtherFailures.
type otherFailure struct {
	name   string
	way    way
	place  string
	answer http.HandlerFunc
	want   string
	// transient is true if a later attempt can succeed without a change. asks is the number of requests up to the failure.
	transient bool
	asks      int
}

// TestOtherFailures covers failures of individual places and of the environment.
func TestOtherFailures(t *testing.T) {
	const ecr = "api.ecr." + clouds.Region + ".amazonaws.com/"
	all := ways(t)
	with := func(name string, change map[string]string) way {
		changed := all[name]
		changed.environment = maps.Clone(changed.environment)
		maps.Copy(changed.environment, change)
		return changed
	}
	for _, tc := range []otherFailure{
		{
			name: "a role that does not trust the pod", way: with("IRSA",
				map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": file(t, "another")}), asks: 1,
			want: `contact "sts.eu-west-1.amazonaws.com": status 403 Forbidden and code AccessDenied; give the operator's ServiceAccount a role`,
		},
		{
			name: "missing token file of IRSA",
			way:  with("IRSA", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/no/such/file"}),
			want: errNoIdentity.Error() + "; give",
		},
		{name: "missing role of IRSA", way: with("IRSA", map[string]string{"AWS_ROLE_ARN": ""}), want: "; give the operator's ServiceAccount a role"},
		{
			name: "EKS with another service", way: with("EKS Pod Identity",
				map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/v1/credentials"}),
			want: `contact "127.0.0.1:1"`, asks: 1,
		},
		{name: "throttled", way: all["IRSA"], place: ecr, answer: says(400, nil, `{"__type":"ThrottlingException","message":"`+clouds.Secret+`"}`), want: "status 400 Bad Request and code Throttling", transient: true, asks: 2},
		{name: "expired keys", way: all["IRSA"], place: ecr, answer: says(400, nil, `{"__type":"ExpiredTokenException"}`), want: "status 400 Bad Request and code ExpiredToken; give", asks: 2},
		{name: "no token from ECR", way: all["IRSA"], place: ecr, answer: clouds.Give(map[string]any{"authorizationData": []any{}}), want: errNonsense.Error(), transient: true, asks: 2},
		{name: "a token from ECR that is not base64", way: all["IRSA"], place: ecr, answer: says(200, nil, `{"authorizationData":[{"authorizationToken":"***"}]}`), want: errNonsense.Error(), transient: true, asks: 2},
		{name: "a token from ECR without a user name", way: all["IRSA"], place: ecr, answer: says(200, nil, `{"authorizationData":[{"authorizationToken":"QVdT"}]}`), want: errNonsense.Error(), transient: true, asks: 2},
		{
			name: "an expired token from ECR", way: all["IRSA"], place: ecr,
			answer: clouds.Give(clouds.ECRAnswer(time.Now().Add(-time.Minute))), want: errExpired.Error(), transient: true,
			asks: 2,
		},
		{name: "an expired token from Google", way: all["GKE"], place: all["GKE"].places[0], answer: says(200, nil, `{"access_token":"`+clouds.Secret+`","expires_in":0}`), want: errExpired.Error(), transient: true, asks: 1},
		{name: "a token from Google with the longest life", way: all["GKE"], place: all["GKE"].places[0], answer: says(200, nil, `{"access_token":"a","expires_in":9223372036854775807}`), asks: 1},
		{name: "a token from Google with the most negative life", way: all["GKE"], place: all["GKE"].places[0], answer: says(200, nil, `{"access_token":"a","expires_in":-9223372036854775808}`), want: errExpired.Error(), transient: true, asks: 1},
		{
			name: "an expired token from Azure", way: all["managed identity"], place: "team.azurecr.io/oauth2/exchange",
			want: errExpired.Error(), transient: true, asks: 2,
			answer: clouds.Give(map[string]string{"refresh_token": clouds.AzureToken(time.Now())}),
		},
		{name: "an opaque token from Azure", way: all["managed identity"], place: "team.azurecr.io/oauth2/exchange", answer: clouds.Give(map[string]string{"refresh_token": "opaque"}), asks: 2},
		{name: "missing token file of Azure", way: with("workload identity", map[string]string{"AZURE_FEDERATED_TOKEN_FILE": "/no/such/file"}), want: "read AZURE_FEDERATED_TOKEN_FILE: no such file or directory; give the operator's ServiceAccount a workload identity"},
		{name: "missing tenant of Azure", way: with("workload identity", map[string]string{"AZURE_TENANT_ID": ""}), want: "AZURE_TENANT_ID or AZURE_CLIENT_ID is not set; give"},
		{name: "an identity that Azure does not accept", way: with("workload identity", map[string]string{"AZURE_CLIENT_ID": "another"}), want: `contact "login.microsoftonline.com": status 400 Bad Request and code invalid_client; give`, asks: 1},
		{
			name: "Azure without TLS", way: with("workload identity",
				map[string]string{"AZURE_AUTHORITY_HOST": "http://login.example.com"}),
			want: `contact "login.example.com": ` + errAddress.Error(),
		},
		{
			name: "an Azure authority at a local address", way: with("workload identity",
				map[string]string{"AZURE_AUTHORITY_HOST": "https://169.254.169.254"}),
			want: `contact "169.254.169.254": ` + errAddress.Error(),
		},
		{
			name: "an invalid Azure authority", way: with("workload identity", map[string]string{"AZURE_AUTHORITY_HOST": "%"}),
			want: errAddress.Error(),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.check(t)
		})
	}
}

func (tc otherFailure) check(t *testing.T) {
	t.Helper()
	environment(t, tc.way.environment)
	stands := clouds.Serve(t)
	if tc.answer != nil {
		stands.On(tc.place, tc.answer)
	}
	_, err := identitiesOf(t, stands).Credentials(t.Context(), tc.way.registry)
	switch failure, failed := errors.AsType[*Failure](err); {
	case tc.want == "" && err != nil:
		t.Error(err)
	case tc.want != "" && (!failed || !strings.Contains(err.Error(), tc.want) ||
		strings.Contains(err.Error(), clouds.Secret)):
		t.Errorf("got %v, want %q", err, tc.want)
	case failed && failure.Transient() != tc.transient:
		t.Errorf("transient: %t", failure.Transient())
	}
	if asked := stands.Asked(""); tc.asks != len(asked) {
		t.Errorf("%d requests, want %d: %v", len(asked), tc.asks, asked)
	}
}

// TestNoProfile checks that AWS profiles do not define the operator's identity, because a profile can name a program to
// run.
func TestNoProfile(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	profile := file(t, "[default]\ncredential_process = /usr/bin/touch "+ran+"\n")
	environment(t, map[string]string{"AWS_CONFIG_FILE": profile, "AWS_SHARED_CREDENTIALS_FILE": profile})
	if _, err := identitiesOf(t, clouds.Serve(t)).Credentials(t.Context(), ecrRegistry); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program was run: %v", err)
	}
}

// TestUnreachable checks the error message for an address that the operator's address checks reject.
func TestUnreachable(t *testing.T) {
	environment(t, nil)
	identities := New(Options{})
	for _, tc := range []struct{ url, want string }{
		{"http://127.0.0.1:9/", "the address does not belong to a service that gives pods their identity"},
		{"http://10.0.0.1/", "the address does not belong to a service that gives pods their identity"},
		{"http://[::1]/", "the address does not belong to a service that gives pods their identity"},
		{"http://169.254.169.254:8080/", "the address does not belong to a service that gives pods their identity"},
	} {
		_, err := identities.client.ask(t.Context(), request{method: http.MethodGet, url: tc.url, service: true})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.url, err, tc.want)
		}
	}
	for _, url := range []string{
		"https://169.254.169.254/", "https://127.0.0.1/", "https://[fd00:ec2::254]/", "https://2852039166/",
		"http://sts.amazonaws.com/", "ftp://sts.amazonaws.com/", "sts",
	} {
		if _, err := identities.client.ask(t.Context(), request{method: http.MethodGet, url: url}); !errors.Is(err,
			errAddress) {
			t.Errorf("%s: %v, want %v", url, err, errAddress)
		}
	}
	if _, err := identities.Credentials(t.Context(), "registry.example.com"); err == nil {
		t.Error("a registry outside the clouds has credentials")
	}
	identities.Refused("registry.example.com")
}

// TestEndpoints checks the region and the endpoint of AWS registries.
func TestEndpoints(t *testing.T) {
	for registry, want := range map[string]ecr{
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com":                {"eu-west-1", "api.ecr.eu-west-1.amazonaws.com"},
		"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn":            {"cn-north-1", "api.ecr.cn-north-1.amazonaws.com.cn"},
		"123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu":            {"eusc-de-east-1", "api.ecr.eusc-de-east-1.amazonaws.eu"},
		"123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com":       {"us-gov-west-1", "api.ecr-fips.us-gov-west-1.amazonaws.com"},
		"123456789012.dkr-ecr.eu-west-1.on.aws":                       {"eu-west-1", "ecr.eu-west-1.api.aws"},
		"123456789012.dkr-ecr-fips.us-east-1.on.aws":                  {"us-east-1", "ecr-fips.us-east-1.api.aws"},
		"123456789012.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn": {"cn-north-1", "ecr.cn-north-1.api.amazonwebservices.com.cn"},
	} {
		if cloud, _ := imagename.CloudOf(registry); cloud != imagename.AWS {
			t.Errorf("the cloud of %s is %q", registry, cloud)
		}
		if got := ecrOf(registry); got != want {
			t.Errorf("%s: %v, want %v", registry, got, want)
		}
	}
}
