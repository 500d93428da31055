package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/cloud"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/clouds"
)

const (
	ecrHost    = clouds.ECR
	googleHost = clouds.Google
	azureHost  = clouds.Azure
)

// cloudy serves cloud registries with one image, team/server:1, which only the operator's identity can read.
type cloudy struct {
	*clouds.Clouds
	inner   *served
	content http.Handler
}

func serveClouds(t *testing.T) *cloudy {
	t.Helper()
	for _, variable := range os.Environ() {
		if key, _, _ := strings.Cut(variable, "="); strings.HasPrefix(key, "AWS_") || strings.HasPrefix(key, "AZURE_") {
			t.Setenv(key, "")
		}
	}
	c := &cloudy{Clouds: clouds.Serve(t), inner: serve(t)}
	c.inner.push(t, "team/server:1", image(t, map[string]string{LabelBase64: encoded(config)}))
	place, err := url.Parse("http://" + c.inner.host)
	if err != nil {
		t.Fatal(err)
	}
	content := httputil.NewSingleHostReverseProxy(place)
	c.content = content
	c.On("mirror.example.com/v2/", content.ServeHTTP)
	c.On("closed.example.com/v2/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
	})
	c.Registries(content)
	return c
}

// reader returns a reader that reads from the registries with the operator's identity.
func (c *cloudy) reader(t *testing.T, options Options) *Reader {
	t.Helper()
	options.Identities = cloud.New(cloud.Options{Public: c.Public, Local: c.Local})
	options.Platform = v1.Platform{OS: "linux", Architecture: "amd64"}
	reader := New(options)
	reader.through.secure, reader.through.insecure = c.Public, c.Local
	t.Cleanup(reader.Close)
	return reader
}

// checkLeaks checks that no secret is in the error or in a request to another host.
func (c *cloudy) checkLeaks(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), clouds.Secret) {
		t.Errorf("the error shows forbidden content: %v", err)
	}
	for _, one := range c.Asked("") {
		host, _, _ := strings.Cut(one.Place, "/")
		_, ofCloud := imagename.CloudOf(host)
		_, password, _ := (&http.Request{Header: one.Header}).BasicAuth()
		held := fmt.Sprint(one.Header, password, one.Body)
		services := strings.HasPrefix(host, "169.254.") || strings.HasPrefix(host, "api.ecr.") ||
			strings.HasPrefix(host, "sts.") || host == "login.microsoftonline.com"
		if strings.Contains(held, clouds.Secret) && !ofCloud && !services {
			t.Errorf("a request to %s contains %s", one.Place, held)
		}
	}
}

// TestCloudIdentity checks which hosts receive the operator's identity.
func TestCloudIdentity(t *testing.T) {
	all := []string{ecrHost + "/team", googleHost + "/team", azureHost}
	secret := func(host string) string {
		return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, encoded("robot:pull"))
	}
	for _, tc := range []struct {
		name, image string
		options     Options
		secret      string
		wantErr     string
		// identity is true if the operator requests a token from the cloud.
		identity bool
	}{
		{name: "ECR", image: ecrHost + "/team/server:1", options: Options{CloudIdentity: all}, identity: true},
		{name: "Google", image: googleHost + "/team/server:1", options: Options{CloudIdentity: all}, identity: true},
		{name: "Azure", image: azureHost + "/team/server:1", options: Options{CloudIdentity: all}, identity: true},
		{name: "in capitals", image: strings.ToUpper(azureHost) + "/team/server:1", options: Options{CloudIdentity: []string{"Team.azurecr.io"}}, identity: true},
		{name: "an empty list", image: ecrHost + "/team/server:1", wantErr: "status 401 Unauthorized"},
		{name: "another registry", image: ecrHost + "/team/server:1", options: Options{CloudIdentity: []string{azureHost}}, wantErr: "status 401 Unauthorized"},
		{name: "another repository", image: ecrHost + "/team/server:1", options: Options{CloudIdentity: []string{ecrHost + "/tea"}}, wantErr: "status 401 Unauthorized"},
		{
			name: "a pull Secret takes precedence", image: ecrHost + "/team/server:1", options: Options{CloudIdentity: all},
			secret:  secret(ecrHost),
			wantErr: "status 401 Unauthorized",
		},
		{
			name: "a pull Secret of another registry", image: ecrHost + "/team/server:1", options: Options{CloudIdentity: all},
			secret: secret(azureHost), identity: true,
		},
		{
			name: "rewritten to a cloud", image: "docker.io/team/server:1", identity: true,
			options: Options{CloudIdentity: all, Rewrite: map[string]string{"docker.io/team": ecrHost + "/team"}},
		},
		{
			name: "rewritten from a cloud", image: ecrHost + "/team/server:1",
			options: Options{CloudIdentity: all, Rewrite: map[string]string{ecrHost: "mirror.example.com"}},
		},
		{
			name: "a registry outside the clouds", image: "closed.example.com/team/server:1", options: Options{CloudIdentity: []string{"closed.example.com"}},
			wantErr: "the registry responds with status 401 Unauthorized",
		},
		{
			name: "a registry whose certificate is not checked", image: ecrHost + "/team/server:1",
			options: Options{CloudIdentity: all, Insecure: []string{ecrHost}},
			wantErr: "status 401 Unauthorized",
		},
		{name: "not allowed", image: ecrHost + "/team/server:1", options: Options{CloudIdentity: all, Allow: []string{"quay.io"}}, wantErr: "is not in registries.allow"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := serveClouds(t)
			reader := c.reader(t, tc.options)
			keychain := &Keychain{}
			if tc.secret != "" {
				if err := keychain.Add([]byte(tc.secret)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := reader.Read(t.Context(), tc.image, keychain)
			c.checkLeaks(t, err)
			switch {
			case tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)):
				t.Errorf("got %v, %v, want an error with %q", got, err, tc.wantErr)
			case tc.wantErr == "" && (err != nil || string(got.Config) != config):
				t.Errorf("got %v, %v", got, err)
			}
			tokens := len(c.Asked("169.254.")) + len(c.Asked("metadata.google.internal"))
			if (tokens > 0) != tc.identity {
				t.Errorf("%d requests for an identity, want at least one: %t", tokens, tc.identity)
			}
		})
	}
}

// TestCloudIdentityGoesNowhereElse checks that a registry cannot redirect the token to another host.
func TestCloudIdentityGoesNowhereElse(t *testing.T) {
	const elsewhere = "elsewhere.example.com"
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
	}
	realm := func(realm string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="x"`, realm))
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	for _, tc := range []struct {
		name, host, place string
		answer            http.HandlerFunc
		insecure          []string
		wantErr           error
		reaches           bool
	}{
		{name: "the manifest at another host", host: ecrHost, place: ecrHost + "/v2/team/", answer: redirect, reaches: true},
		{name: "the tokens at another host", host: googleHost, place: googleHost + "/v2/token", answer: redirect, reaches: true},
		{name: "the exchange at another host", host: azureHost, place: azureHost + "/oauth2/exchange", answer: redirect},
		{name: "AWS at another host", host: ecrHost, place: "api.ecr." + clouds.Region + ".amazonaws.com/", answer: redirect},
		{name: "the metadata service at another host", host: googleHost, place: "metadata.google.internal/computeMetadata/v1/instance/s", answer: redirect},
		{name: "another realm", host: googleHost, place: googleHost + "/v2/", answer: realm("https://" + elsewhere + "/token"), wantErr: errForeignRealm},
		{name: "a realm of another cloud", host: googleHost, place: googleHost + "/v2/", answer: realm("https://" + azureHost + "/token"), wantErr: errForeignRealm},
		{name: "a realm without TLS", host: googleHost, place: googleHost + "/v2/", answer: realm("http://" + googleHost + "/token"), wantErr: errForeignRealm},
		{
			name: "a realm whose certificate is not checked", host: googleHost, place: googleHost + "/v2/", answer: realm("https://us-docker.pkg.dev/token"),
			insecure: []string{"us-docker.pkg.dev"}, wantErr: errForeignRealm,
		},
		{name: "a realm at another port", host: googleHost, place: googleHost + "/v2/", answer: realm("https://" + googleHost + ":8443/token"), wantErr: errForeignRealm},
		{name: "no realm", host: googleHost, place: googleHost + "/v2/", answer: realm("%"), wantErr: errRealm},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := serveClouds(t)
			c.On(tc.place, tc.answer)
			reader := c.reader(t, Options{CloudIdentity: []string{ecrHost, googleHost, azureHost}, Insecure: tc.insecure})
			_, err := reader.Read(t.Context(), tc.host+"/team/server:1", &Keychain{})
			if err == nil || tc.wantErr != nil && !errors.Is(err, tc.wantErr) {
				t.Errorf("got %v, want %v", err, tc.wantErr)
			}
			if errors.Is(err, errForeignRealm) && (Transient(err) || len(c.Asked("metadata.google.internal")) > 0) {
				t.Errorf("%v is transient, or a token was requested", err)
			}
			c.checkLeaks(t, err)
			if reached := len(c.Asked(elsewhere)) > 0; reached != tc.reaches {
				t.Errorf("reached: %t, want %t", reached, tc.reaches)
			}
		})
	}
}

// TestCloudIdentityRequests counts the requests for reads with the operator's identity: all reads with the same
// identities use one token, and a reader does not request a digest that it has already read.
func TestCloudIdentityRequests(t *testing.T) {
	c := serveClouds(t)
	options := Options{CloudIdentity: []string{ecrHost}}
	reader := c.reader(t, options)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, err := reader.Read(t.Context(), ecrHost+"/team/server:1", &Keychain{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked := len(c.Asked("api.ecr.")); asked != 1 {
		t.Errorf("%d requests for tokens, want one", asked)
	}
	got, err := reader.Read(t.Context(), ecrHost+"/team/server:1", &Keychain{})
	if err != nil {
		t.Fatal(err)
	}
	// A new operator configuration results in a new reader with the same identities.
	options.Identities = reader.options.Identities
	other := New(options)
	other.through.secure = c.Public
	t.Cleanup(other.Close)
	for _, tc := range []struct {
		name, image string
		reader      *Reader
		tokens      int
		registry    int
	}{
		{"a known digest", ecrHost + "/team/server@" + got.Digest, reader, 0, 0},
		{"a known digest, with a new identity", ecrHost + "/team/server@" + got.Digest, c.reader(t, options), 1, 4},
		{"an unknown tag", ecrHost + "/team/server:1", other, 0, 4},
		{"the tag again", ecrHost + "/team/server:1", other, 0, 1},
	} {
		tokens, registry := len(c.Asked("api.ecr.")), len(c.Asked(ecrHost))
		if _, err := tc.reader.Read(t.Context(), tc.image, &Keychain{}); err != nil {
			t.Fatal(err)
		}
		if got := len(c.Asked("api.ecr.")) - tokens; got != tc.tokens {
			t.Errorf("%s: %d tokens, want %d", tc.name, got, tc.tokens)
		}
		if got := len(c.Asked(ecrHost)) - registry; got > tc.registry || tc.registry > 0 && got == 0 {
			t.Errorf("%s: %d requests, want at most %d", tc.name, got, tc.registry)
		}
	}
}

// given returns credentials whose password is different for each request.
type given struct{ got, refused int }

func (g *given) Credentials(context.Context, string) (authn.AuthConfig, error) {
	g.got++
	return authn.AuthConfig{Username: "AWS", Password: clouds.Secret + strconv.Itoa(g.got)}, nil
}

func (g *given) Refused(string) { g.refused++ }

// TestCloudIdentityStaysTheSame checks that a new token does not count as new credentials: images that were read with
// the previous token are not read again.
func TestCloudIdentityStaysTheSame(t *testing.T) {
	c := serveClouds(t)
	blobs := 0
	c.On(ecrHost+"/v2/", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); !strings.HasPrefix(password, clouds.Secret) {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.Contains(r.URL.Path, "/blobs/") {
			blobs++
		}
		c.content.ServeHTTP(w, r)
	})
	reader, identities := c.reader(t, Options{CloudIdentity: []string{ecrHost}}), &given{}
	reader.options.Identities = identities
	for range 3 {
		if _, err := reader.Read(t.Context(), ecrHost+"/team/server:1", &Keychain{}); err != nil {
			t.Fatal(err)
		}
	}
	if blobs != 1 || identities.got != 3 {
		t.Errorf("%d blobs with %d tokens, want 1 with 3", blobs, identities.got)
	}
}

// TestCloudIdentityRefused checks the message for an image that the operator's identity cannot read, and that an
// invalid token is replaced.
func TestCloudIdentityRefused(t *testing.T) {
	for _, tc := range []struct {
		host, place string
		status      int
		body        string
		want        string
		refused     int
	}{
		{ecrHost, ecrHost + "/v2/team/", http.StatusForbidden, `{"errors":[{"code":"DENIED"}]}`, "the registry responds with status 403 Forbidden and code DENIED when the operator uses its identity at AWS; allow that identity to read the repository, or add a pull Secret to the stack", 0},
		{ecrHost, ecrHost + "/v2/team/", http.StatusUnauthorized, "", "the registry responds with status 401 Unauthorized when the operator uses its identity at AWS; allow", 1},
		{googleHost, googleHost + "/v2/token", http.StatusForbidden, "", "get a token: the registry responds with status 403 Forbidden when the operator uses its identity at Google Cloud; allow", 0},
		{azureHost, azureHost + "/oauth2/token", http.StatusUnauthorized, "", "get a token: the registry responds with status 401 Unauthorized when the operator uses its identity at Azure; allow", 1},
		{ecrHost, ecrHost + "/v2/team/", http.StatusNotFound, "", "the registry responds with status 404 Not Found", 0},
	} {
		c := serveClouds(t)
		c.On(tc.place, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				t.Errorf("the request to %s has no credentials", r.URL)
			}
			w.WriteHeader(tc.status)
			fmt.Fprint(w, tc.body)
		})
		reader, identities := c.reader(t, Options{CloudIdentity: []string{ecrHost, googleHost + "/team", azureHost}}),
			&given{}
		reader.options.Identities = identities
		_, err := reader.Read(t.Context(), tc.host+"/team/server:1", &Keychain{})
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("read image %q: %s", tc.host+"/team/server:1",
			tc.want)) || Transient(err) || Lasting(err) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
		if tc.status == http.StatusNotFound && strings.Contains(message(err), "identity") {
			t.Errorf("the error %v is about the identity", err)
		}
		if identities.refused != tc.refused {
			t.Errorf("%s: refused %d times, want %d", tc.place, identities.refused, tc.refused)
		}
		c.checkLeaks(t, err)
	}
}

// TestNoCloudIdentity checks the message when the cloud returns no token, and the time at which the image is read
// again.
func TestNoCloudIdentity(t *testing.T) {
	for _, tc := range []struct {
		name      string
		status    int
		retry     string
		want      string
		transient bool
		pause     time.Duration
	}{
		{name: "none", status: 404, want: "the operator's identity at Google Cloud: contact \"metadata.google.internal\": status 404 Not Found; give the operator's ServiceAccount"},
		{name: "down", status: 503, want: "status 503 Service Unavailable", transient: true},
		{
			name: "busy", status: 429, retry: "120", want: "status 429 Too Many Requests", transient: true,
			pause: 2 * time.Minute,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := serveClouds(t)
			c.On("metadata.google.internal/computeMetadata/v1/instance/s", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", tc.retry)
				http.Error(w, clouds.Secret, tc.status)
			})
			reader := c.reader(t, Options{CloudIdentity: []string{googleHost + "/team"}})
			for _, tag := range []string{"1", "2"} {
				_, err := reader.Read(t.Context(), googleHost+"/team/server:"+tag, &Keychain{})
				if err == nil || !strings.Contains(err.Error(), tc.want) || Transient(err) != tc.transient || Lasting(err) ||
					wantedPause(err) != tc.pause {
					t.Errorf("got %v (transient %t, pause %v), want %q", err, Transient(err), wantedPause(err), tc.want)
				}
				c.checkLeaks(t, err)
			}
			if asked := len(c.Asked("metadata.")); asked != 1 {
				t.Errorf("%d requests, want one for two images", asked)
			}
		})
	}
}

// TestCloudIdentityOfATag checks that the pool uses the operator's identity to compare a tag only while
// Options.CloudIdentity lists the repository, and that it keeps no token with the tag.
func TestCloudIdentityOfATag(t *testing.T) {
	c := serveClouds(t)
	asked := 0
	pool := NewPool(PoolOptions{Credentials: func(context.Context, Target, []string) (authn.Keychain, error) {
		asked++
		return &Keychain{}, nil
	}})
	watched := Watched{Target: target("my", ecrHost+"/team/server:1"), Soon: true}
	compare := func() (outcome Outcome, keeps authn.Keychain) {
		t.Helper()
		pool.Watch(watched)
		now, ok := pool.begin(key{watched.Stack, compareTag})
		if !ok {
			t.Fatal("there is nothing to compare")
		}
		now.old = ages{}
		outcome, _ = pool.read(t.Context(), now)
		now.release()
		pool.conclude(now.task, now.image, outcome, false)
		return outcome, now.keychain
	}
	pool.reader = c.reader(t, Options{CloudIdentity: []string{ecrHost}})
	for range 3 {
		outcome, keeps := compare()
		if kept, ok := keeps.(*Keychain); outcome.Err != nil || !ok || kept.finish() != 0 {
			t.Fatalf("got %v, keeps %T", outcome.Err, keeps)
		}
	}
	if asked != 1 {
		t.Errorf("pull Secrets were read %d times, want once", asked)
	}
	pool.reader = c.reader(t, Options{})
	if outcome, _ := compare(); statusOf(outcome.Err) != http.StatusUnauthorized {
		t.Errorf("the result for a repository that is no longer listed is %v", outcome.Err)
	}
}

// TestCloudIdentityIsNotAlwaysNeeded checks that no token is requested for a registry that requires no credentials.
func TestCloudIdentityIsNotAlwaysNeeded(t *testing.T) {
	c := serveClouds(t)
	c.On(ecrHost+"/v2/", c.content.ServeHTTP)
	reader := c.reader(t, Options{CloudIdentity: []string{ecrHost}})
	if _, err := reader.Read(t.Context(), ecrHost+"/team/server:1", &Keychain{}); err != nil {
		t.Fatal(err)
	}
	if asked := c.Asked("api.ecr."); len(asked) > 0 {
		t.Errorf("a token was requested: %v", asked)
	}
}

// TestMetadataIsNoRegistry checks that no image is requested from the identity services, however the image name is
// written.
func TestMetadataIsNoRegistry(t *testing.T) {
	environment := Options{CloudIdentity: []string{ecrHost}, Identities: cloud.New(cloud.Options{})}
	reader := New(environment)
	t.Cleanup(reader.Close)
	for _, host := range []string{
		"169.254.169.254", "169.254.169.254:80", "169.254.170.2", "169.254.170.23",
		"[fd00:ec2::254]", "[fd00:ec2::23]:80", "[fd20:ce::254]",
	} {
		_, err := reader.Read(t.Context(), host+"/latest/api:token", &Keychain{})
		if !errors.Is(err, address.ErrLocal) && !errors.Is(err, errPlainHTTP) {
			t.Errorf("%s: %v", host, err)
		}
	}
}
