package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/smithy-go/logging"
	"github.com/google/go-containerregistry/pkg/authn"
)

const (
	awsRemedy = "give the operator's ServiceAccount a role that can read from ECR, with IRSA (eks.amazonaws.com/role-arn) or EKS Pod Identity, or add a pull Secret to the stack"
	// codeThrottling is the code for too many requests. AWS sends it with a status other than 429.
	codeThrottling = "Throttling"
)

// awsCodes lists documented error codes of STS and ECR.
var awsCodes = []string{
	"AccessDenied", "ExpiredToken", "IDPCommunicationError", "IDPRejectedClaim", "InvalidIdentityToken",
	"InvalidClientTokenId",
	"InvalidSignature", "MalformedPolicyDocument", "PackedPolicyTooLarge", "RegionDisabled", codeThrottling,
	"UnrecognizedClient",
}

// ecr is an AWS registry.
type ecr struct{ region, endpoint string }

// ecrOf returns the region and the API endpoint of a registry. It follows the rules of the SDK's own client.
func ecrOf(registry string) ecr {
	_, rest, _ := strings.Cut(registry, ".") // dkr.ecr.<region>.<domain>
	rest = rest[len("dkr.ecr"):]
	rest, fips := strings.CutPrefix(rest, "-fips")
	region, domain, _ := strings.Cut(rest[1:], ".")
	service := "ecr"
	if fips {
		service = "ecr-fips"
	}
	if owner, dual := strings.CutPrefix(domain, "on."); dual {
		return ecr{region, service + "." + region + ".api." + owner}
	}
	return ecr{region, "api." + service + "." + region + "." + domain}
}

// aws gets a token for a region. The keys come from the AWS credential chain: the environment, a web identity, the
// container or the machine.
func (i *Identities) aws(ctx context.Context, registry string) (credentials, error) {
	at := ecrOf(registry)
	keys, err := i.awsKeys(ctx, at.region)
	if err != nil {
		return credentials{}, err
	}
	var said struct {
		AuthorizationData []ecrToken `json:"authorizationData"`
	}
	if err := i.client.askJSON(ctx, at.tokenRequest(ctx, keys), &said); err != nil {
		return credentials{}, err
	}
	if len(said.AuthorizationData) == 0 {
		return credentials{}, errNonsense
	}
	return said.AuthorizationData[0].credentials()
}

// ecrToken is an ECR token: a user and a password in base64.
type ecrToken struct {
	AuthorizationToken string  `json:"authorizationToken"`
	ExpiresAt          float64 `json:"expiresAt"`
}

func (t ecrToken) credentials() (credentials, error) {
	pair, err := base64.StdEncoding.DecodeString(t.AuthorizationToken)
	user, password, ok := strings.Cut(string(pair), ":")
	if err != nil || !ok {
		return credentials{}, errNonsense
	}
	config := authn.AuthConfig{Username: user, Password: password}
	return credentials{config: config, expires: time.Unix(int64(t.ExpiresAt), 0)}, nil
}

// tokenRequest returns the request for a token, signed with keys.
func (e ecr) tokenRequest(ctx context.Context, keys aws.Credentials) request {
	return request{
		method: "POST", url: "https://" + e.endpoint + "/", body: "{}", codes: awsCodes,
		header: map[string]string{
			"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
		},
		sign: func(asked *http.Request, body string) error {
			sum := sha256.Sum256([]byte(body))
			return v4.NewSigner().SignHTTP(ctx, keys, asked, hex.EncodeToString(sum[:]), "ecr", e.region, time.Now())
		},
	}
}

// awsKeys returns the keys of the pod's identity. The caller uses them once and does not keep them. The function does
// not read profiles, because a profile could name a program to run.
func (i *Identities) awsKeys(ctx context.Context, region string) (aws.Credentials, error) {
	through := &awsClient{client: i.client, ctx: ctx}
	loaded, err := config.LoadDefaultConfig(ctx,
		config.WithHTTPClient(through), config.WithDefaultRegion(region), config.WithLogger(logging.Nop{}),
		config.WithSharedConfigFiles([]string{}), config.WithSharedCredentialsFiles([]string{}),
		// This option is needed because the endpoint credentials do not use WithHTTPClient.
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = through }),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }))
	if err != nil {
		return aws.Credentials{}, errEnvironment
	}
	// The SDK sends requests without the deadline of its context, but returns as soon as that context ends. The SDK
	// therefore gets a context that does not end, and awsClient sends each request with ctx.
	keys, err := loaded.Credentials.Retrieve(context.WithoutCancel(ctx))
	switch {
	case err == nil && keys.HasKeys():
		return keys, nil
	case through.failed != nil: // the SDK's message contains the request
		return aws.Credentials{}, through.failed
	case through.asked:
		return aws.Credentials{}, errNonsense
	default:
		return aws.Credentials{}, errNoIdentity
	}
}

// awsClient sends the SDK's requests with the same limits as all other requests, and records the last failure.
type awsClient struct {
	client *client
	ctx    context.Context //nolint:containedctx // all requests of one attempt share it
	asked  bool
	failed error
}

// errNoSession is the error with which awsClient rejects a request to the first version of the machine's metadata
// service. The SDK sends such a request if it cannot get a session token.
var errNoSession = errors.New("the request to the machine's metadata service has no session token")

// Do sends a request.
func (a *awsClient) Do(asked *http.Request) (*http.Response, error) {
	a.asked = true
	service := asked.URL.Scheme == "http"
	if service && asked.Method == http.MethodGet && strings.HasPrefix(asked.URL.Path, "/latest/") &&
		asked.Header.Get("X-Aws-Ec2-Metadata-Token") == "" {
		return nil, errNoSession // the request for the session token has failed
	}
	said, err := a.client.send(asked.WithContext(a.ctx), service, awsCodes)
	if err != nil {
		a.failed = err
	}
	if said.status == 0 {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(said.status), StatusCode: said.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: said.header, Body: io.NopCloser(bytes.NewReader(said.content)), ContentLength: int64(len(said.content)),
		Request: asked,
	}, nil
}
