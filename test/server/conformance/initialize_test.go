//go:build server

package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// TestInitialize checks that the server of a release starts with the configurations that the operator's checks accept
// for the release.
func TestInitialize(t *testing.T) {
	t.Parallel()
	eachLine(t, realserver.Releases, func(t *testing.T, rel *release.Release, checker *realserver.Checker) {
		begin := time.Now()
		cases, left := startable(append(corpus.Cases(rel), corpus.Random(rel, seed, randomStarts)...))
		configs, refused := acceptedOf(t, append(sample(cases), boots(t, rel)...))
		failed, started := 0, 0
		for _, c := range configs {
			if reason := needsMore(c.Config, c.Env); reason != "" {
				left = append(left, c.Name+": "+reason)
				continue
			}
			verdict, err := checker.Check(t.Context(), realserver.Request{
				Tier: realserver.Initialize, Config: string(c.Config), Env: c.Env,
				Local: true, Models: corpus.Models(c.Config), Seconds: startSeconds,
			})
			switch {
			case err != nil:
				t.Fatal(err)
			case verdict.OK:
				started++
				keep(t, checker, verdict)
			case outside(verdict) != "":
				left = append(left, c.Name+": "+outside(verdict))
			case verdict.Missing != "":
				left = append(left, fmt.Sprintf("%s: the package %s is not installed", c.Name, verdict.Missing))
				keep(t, checker, verdict)
			default:
				failed++
				t.Errorf("%s: the release %s does not start with a configuration that the checks accept: %s", c.Name, rel.Version, verdict)
			}
		}
		slices.Sort(left)
		t.Logf("omitted cases of %s:\n%s", rel.Line, strings.Join(left, "\n"))
		t.Logf("initialize %s: the server started with %d configurations and not with %d, the operator rejected %d cases, %d were omitted, %.0f s",
			rel.Line, started, failed, refused, len(left), time.Since(begin).Seconds())
		count(t, "initialize", started, started+failed)
		if started < leastStarts {
			t.Errorf("the server started with only %d configurations, want at least %d", started, leastStarts)
		}
	})
}

const (
	// leastStarts is the minimum number of configurations with which the server of a line must start.
	leastStarts = 40
	// randomStarts is the number of random cases.
	randomStarts = 100
	// sampleSize is the number of cases that sample selects for a line.
	sampleSize = 160
	// startSeconds is the time limit for one start.
	startSeconds = 60
)

// startable returns the cases that do not need missing packages, and the reasons why other cases are omitted.
func startable(cases []corpus.Case) (light []corpus.Case, left []string) {
	for i := range cases {
		c, reason := cases[i].Light()
		if reason != "" {
			left = append(left, cases[i].Name+": "+reason)
			continue
		}
		light = append(light, c)
	}
	return light, left
}

// services lists the provider types and backends that connect to a service when they start.
var services = map[string]string{
	"kv_redis":                        "Redis",
	"kv_mongodb":                      "MongoDB",
	"kv_postgres":                     "PostgreSQL",
	"sql_postgres":                    "PostgreSQL",
	"vector_io/remote::chromadb":      "Chroma",
	"vector_io/remote::milvus":        "Milvus",
	"vector_io/remote::oci":           "an Oracle database and its wallet",
	"vector_io/remote::pgvector":      "PostgreSQL with the vector extension",
	"files/remote::s3":                "an S3 bucket and AWS credentials",
	"safety/remote::bedrock":          "AWS credentials and a region",
	"inference/remote::oci":           "an identity in Oracle Cloud",
	"inference/remote::databricks":    "a Databricks workspace",
	"vector_io/remote::elasticsearch": "Elasticsearch",
	"vector_io/remote::infinispan":    "Infinispan",
	"vector_io/remote::weaviate":      "Weaviate",
}

// needsMore returns a provider type or backend in a configuration, and the service to which it connects when the server
// starts. It returns "" if no provider type or backend connects to a service.
func needsMore(config []byte, env map[string]string) string {
	for _, kind := range append(corpus.Types(config, env), corpus.Backends(config)...) {
		if service := services[kind]; service != "" {
			return kind + " needs " + service
		}
	}
	return ""
}

// outside returns the reason why a verdict does not depend on the operator's checks, or "".
func outside(verdict realserver.Verdict) string {
	if strings.Contains(verdict.Message, "is not available from provider") ||
		strings.Contains(verdict.Message, "Connection error") {
		return "in 0.5 and earlier, the server requests the model from the provider's public service"
	}
	if strings.Contains(verdict.Message, "offline mode is enabled") {
		return "the provider sends requests to Hugging Face"
	}
	if strings.Contains(verdict.Message, "PEM lib") {
		return "the file in the case does not contain a certificate"
	}
	return ""
}

// sample returns all cases if RELEASES selects lines and SAMPLE is not set. Otherwise, it returns an evenly distributed
// selection of at most sampleSize cases, to limit the duration of the test.
func sample(cases []corpus.Case) []corpus.Case {
	if (realserver.Named() && os.Getenv("SAMPLE") == "") || len(cases) <= sampleSize {
		return cases
	}
	few := make([]corpus.Case, 0, sampleSize)
	for i := range sampleSize {
		few = append(few, cases[i*len(cases)/sampleSize])
	}
	return few
}
