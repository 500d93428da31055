package webhook

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/definition"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/mutation"
)

var (
	variants     = flag.Int("variants", 400, "number of random variants of stacks")
	variantsSeed = flag.Uint64("variants-seed", 1, "seed of the random variants")
)

// TestSameAnswers compares two answers: that of an API server with the policy and the webhook, for a strict request
// such as that of kubectl, and that of the command line.
func TestSameAnswers(t *testing.T) {
	c := startCluster(t)
	c.Install(t)
	for _, o := range c.startReplicas(t) {
		testutil.Within(t, patience, func() error { return validates(o) })
	}
	check := newChecker(t, c.Plane.Config)
	t.Run("cases", check.cases)
	t.Run("variants", check.variants)
}

// variants changes valid stacks of both versions at random.
func (c *checker) variants(t *testing.T) {
	stacks, err := mutation.Stacks()
	testutil.Must(t, err)
	for _, name := range slices.Sorted(maps.Keys(stacks)) {
		if server, own := c.answers(t, stacks[name]); server != "" || own != "" {
			t.Errorf("the unchanged stack %q: the API server: %s; the command line: %s", name, server, own)
		}
	}
	names := slices.Sorted(maps.Keys(stacks))
	m := mutation.Mutation{Rand: rand.New(rand.NewPCG(*variantsSeed, 0))}
	accepted, refused := 0, 0
	for range *variants {
		name := names[m.IntN(len(names))]
		object := runtime.DeepCopyJSON(stacks[name])
		if m.IntN(8) == 0 {
			m.Change(object, "metadata", "apiVersion", "kind", "status", "spec")
		} else {
			m.Change(object["spec"].(map[string]any), slices.Sorted(maps.Keys(object["spec"].(map[string]any)))...)
		}
		switch server, own := c.answers(t, object); {
		case server != "" && own == "":
			t.Errorf("%s: %s: the command line accepts the stack, and the API server: %s", name, m.Done, server)
		case server == "" && notAmongFiles.MatchString(own):
		case server == "" && own != "":
			t.Errorf("%s: %s: the API server accepts the stack, and the command line: %s", name, m.Done, own)
		case server != "":
			refused++
		default:
			accepted++
		}
	}
	t.Logf("both accept %d and both refuse %d of %d variants", accepted, refused, *variants)
	if accepted < *variants/10 || refused < *variants/10 {
		t.Error("the variants do not have both results often enough")
	}
}

// notAmongFiles matches the error for a reference that only the command line can check.
var notAmongFiles = regexp.MustCompile(`(the files do not contain ConfigMap|ConfigMap "own" has no key) "[^"]*"[^;]*; [^;]*$`)

// checker asks an API server and the command line.
type checker struct {
	server *rest.RESTClient
	// others are the objects that the stacks refer to.
	others []document.Document
}

func newChecker(t *testing.T, config *rest.Config) *checker {
	t.Helper()
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer, config.QPS = scheme.Codecs.WithoutConversion(), -1
	server, err := rest.UnversionedRESTClientFor(config)
	testutil.Must(t, err)
	resolved, err := distribution.Resolve("starter", "", "", nil)
	testutil.Must(t, err)
	own, err := json.Marshal(corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "own"}, Data: map[string]string{"config.yaml": string(resolved.Base)},
	})
	testutil.Must(t, err)
	return &checker{server: server, others: document.Parse("own.json", own, false)}
}

// answers returns the errors of the API server and of the command line. Empty means that a stack is accepted.
func (c *checker) answers(t *testing.T, object map[string]any) (server, own string) {
	t.Helper()
	data, err := json.Marshal(object)
	testutil.Must(t, err)
	version, _ := object["apiVersion"].(string)
	server = c.post(t, version, data)
	found := dryrun.Gather(append(document.Parse("stack.json", data, false), c.others...), metav1.NamespaceDefault)
	found.Definition = definition.Check
	if len(found.Stacks) == 0 {
		return server, "no stack"
	}
	return server, strings.Join(found.Plan(found.Stacks[0]).Errors, "; ")
}

// post creates a stack as a dry run, and returns the error with its causes.
func (c *checker) post(t *testing.T, version string, data []byte) (answer string) {
	t.Helper()
	err := c.server.Post().AbsPath("apis", version, "namespaces", "default", "llamastackdistributions").
		Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationStrict).
		SetHeader("Content-Type", "application/json").Body(data).Do(t.Context()).Error()
	if err != nil {
		answer = err.Error()
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok && status.ErrStatus.Details != nil {
		for _, cause := range status.ErrStatus.Details.Causes {
			answer += "; " + cause.Field + ": " + cause.Message
		}
	}
	return answer
}
