package docs

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/runner"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

var (
	onlyPage    = flag.String("page", "", "run only the pages whose path contains this text")
	update      = flag.Bool("update", false, "update the pages with the outputs that differ")
	resultTable = flag.String("table", "", "file to which a table of the results is written")
)

const (
	gateLimit     = 30 * time.Second
	gatePatience  = 10 * time.Second
	updatePatence = 3 * time.Second
)

// site runs pages on a cluster.
type site struct {
	client     client.Client
	kubeconfig string // an administrator's kubeconfig
	programs   string
	onNode     bool

	limit, patience time.Duration
	// prepare prepares the namespace for a page.
	prepare func(t *testing.T, namespace string, parsed *script.Page)

	mu   sync.Mutex
	rows []pageResult
}

// pageResult is a row of the table: a page and its result.
type pageResult struct {
	path    string
	onNode  bool
	result  runner.Result
	took    time.Duration
	skipped []string
	waiting int // the number of commands that run only on a node
}

// chosen returns the pages whose commands the test runs.
func chosen(t *testing.T) []page {
	t.Helper()
	found := slices.DeleteFunc(scripts(t), func(p page) bool { return !strings.Contains(p.path, *onlyPage) })
	if len(found) == 0 {
		t.Fatalf("no page has %q in its path", *onlyPage)
	}
	return found
}

// The commands on the pages produce the output that the pages show, on an API server without nodes.
func TestPages(t *testing.T) {
	pages := chosen(t)
	c := process.StartCluster(t, testutil.Options{})
	c.Install(t)
	c.WaitEstablished(t, "crd/"+names.CustomResourceDefinition)
	testutil.RunControllers(t, c.Kubeconfig, []string{
		"deployment-controller", "replicaset-controller", "namespace-controller", "garbage-collector-controller",
	})
	operator := c.StartOperator(t)
	testutil.Within(t, process.Patience, operator.Ready)
	c.Publish(t, operator)
	// On a busy machine, the webhook can take longer than the configured two seconds to respond. After this time, the
	// API server ignores the webhook.
	c.MustKubectl(t, "patch", "validatingwebhookconfiguration", names.ValidatingWebhookConfiguration, "--type=json",
		`--patch=[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":20}]`)
	s := &site{
		client: c.Client, kubeconfig: c.Kubeconfig, programs: programs(t, testutil.Kubectl()), limit: gateLimit,
		patience: gatePatience, prepare: func(*testing.T, string, *script.Page) {},
	}
	s.run(t, pages)
}

// programs returns a folder with the programs that the pages call.
func programs(t *testing.T, kubectl string) string {
	t.Helper()
	folder := t.TempDir()
	for name, target := range map[string]string{
		"kubectl": kubectl, "helm": filepath.Join(testutil.Root(), ".cache/bin/helm"),
		"kubectl-llamastack": testutil.BuildCommandLine(t, process.Version),
	} {
		if _, err := os.Stat(target); err != nil {
			continue
		}
		testutil.Must(t, os.Symlink(target, filepath.Join(folder, name)))
	}
	return folder
}

// shared matches commands that change objects outside the namespace of a page. A page with such a command must not run
// at the same time as other pages.
var shared = regexp.MustCompile(names.OperatorNamespace + `|kubectl create (?:namespace|ns|clusterrole)|kind: Namespace`)

// forwards matches commands that listen on a port of this machine.
var forwards = regexp.MustCompile(`kubectl port-forward|kubectl proxy|kubectl llamastack open`)

// run runs the pages. It first runs most of them concurrently. Then it runs the pages that must not run at the same
// time as other pages, one after the other.
func (s *site) run(t *testing.T, pages []page) {
	t.Helper()
	var alone []page
	t.Run("pages", func(t *testing.T) {
		for _, p := range pages {
			parsed := script.Parse(p.text)
			if parsed.Alone || s.runs(parsed) && shared.MatchString(p.text) || s.onNode && forwards.MatchString(p.text) {
				alone = append(alone, p)
				continue
			}
			t.Run(p.path, func(t *testing.T) {
				t.Parallel()
				s.page(t, p)
			})
		}
	})
	for _, p := range alone {
		t.Run(p.path, func(t *testing.T) {
			defer s.restore(t, s.namespaces(t), s.operatorConfig(t))
			s.page(t, p)
		})
	}
}

// runs reports whether a page has a command for this cluster.
func (s *site) runs(parsed *script.Page) bool {
	if s.onNode {
		return parsed.Count(script.Node) > 0
	}
	return parsed.Count(script.Gate) > 0
}

// notInNames matches the characters that the name of a namespace cannot contain.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// page runs a page in its own namespace and its own folder.
func (s *site) page(t *testing.T, p page) {
	t.Helper()
	parsed := script.Parse(p.text)
	line := pageResult{path: p.path, onNode: s.onNode}
	if !s.onNode {
		line.waiting = parsed.Count(script.Node)
	}
	for _, block := range parsed.Blocks {
		if block.Reason != "" {
			line.skipped = append(line.skipped, block.Reason)
		}
	}
	started := time.Now()
	defer func() {
		line.took = time.Since(started)
		if t.Failed() && len(line.result.Failures) == 0 {
			line.result.Failures = []runner.Failure{{Text: "the page failed outside its commands; see the log of the test"}}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rows = append(s.rows, line)
		s.print(t) // writes the table after each page, so that it exists even if the test does not finish
	}()
	hasManifests := !s.onNode && isStrict(p.path) && len(p.fenced("yaml")) > 0
	if !s.runs(parsed) && !hasManifests {
		return
	}
	namespace := "page-" + strings.Trim(notInNames.ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(
		strings.ToLower(p.path), "docs/"), ".md"), "-"), "-")
	s.createNamespace(t, namespace)
	s.prepare(t, namespace, parsed)
	place := &runner.Place{
		Folder: t.TempDir(), State: t.TempDir(), Namespace: namespace, Kubeconfig: s.kubeconfigFor(t, namespace),
		Programs: s.programs, OnNode: s.onNode, Limit: s.limit, Patience: s.patience,
	}
	if *update {
		place.Patience = updatePatence
	}
	if parsed.Repository {
		copyManifests(t, place.Folder)
	}
	line.result = place.Run(t.Context(), parsed)
	if *update && len(line.result.Changes) > 0 {
		text := script.Update(p.text, line.result.Changes)
		testutil.Must(t, os.WriteFile(filepath.Join(testutil.Root(), p.path), []byte(text), 0o600))
		t.Logf("%s: wrote %d outputs", p.path, len(line.result.Changes))
	}
	if hasManifests {
		s.checkManifests(t, &line.result, parsed, place.Kubeconfig)
	}
	for _, failure := range line.result.Failures {
		t.Errorf("%s:%d: %s", p.path, failure.Line, failure.Text)
	}
	if s.onNode { // the pods for the next pages need the memory of these pods
		s.startDelete(t, namespace)
	}
}

// copyManifests copies the folders of the repository that commands read.
func copyManifests(t *testing.T, folder string) {
	t.Helper()
	for _, name := range []string{"charts", "config"} {
		err := os.CopyFS(filepath.Join(folder, name), os.DirFS(filepath.Join(testutil.Root(), name)))
		testutil.Must(t, err)
	}
}

// kubeconfigFor returns the path of a kubeconfig with this default namespace.
func (s *site) kubeconfigFor(t *testing.T, namespace string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	testutil.Must(t, err)
	config.Contexts[config.CurrentContext].Namespace = namespace
	file := filepath.Join(t.TempDir(), "kubeconfig")
	testutil.Must(t, clientcmd.WriteToFile(*config, file))
	return file
}

func (s *site) createNamespace(t *testing.T, name string) {
	t.Helper()
	testutil.Must(t, s.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// deleteNamespace deletes a namespace and waits until it no longer exists.
func (s *site) deleteNamespace(t *testing.T, name string) {
	t.Helper()
	s.startDelete(t, name)
	namespace := &corev1.Namespace{}
	testutil.Within(t, 2*time.Minute, func() error {
		err := s.client.Get(t.Context(), client.ObjectKey{Name: name}, namespace)
		if err == nil {
			return fmt.Errorf("the namespace %q still exists", name)
		}
		return client.IgnoreNotFound(err)
	})
}

// startDelete starts to delete a namespace, and does not wait until it no longer exists.
func (s *site) startDelete(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreNotFound(s.client.Delete(t.Context(), namespace)); err != nil {
		t.Error(err)
	}
}

func (s *site) namespaces(t *testing.T) []string {
	t.Helper()
	var list corev1.NamespaceList
	testutil.Must(t, s.client.List(t.Context(), &list))
	var found []string
	for i := range list.Items {
		found = append(found, list.Items[i].Name)
	}
	return found
}

// restore reverts a page's changes outside its namespace: it deletes other namespaces that the page created, and
// restores the operator's ConfigMap.
func (s *site) restore(t *testing.T, before []string, config *corev1.ConfigMap) {
	t.Helper()
	for _, name := range s.namespaces(t) {
		if !slices.Contains(before, name) && !strings.HasPrefix(name, "page-") {
			s.deleteNamespace(t, name)
		}
	}
	now := s.operatorConfig(t)
	var err error
	switch {
	case now == nil && config != nil:
		config.ResourceVersion, config.UID = "", ""
		err = s.client.Create(t.Context(), config)
	case now != nil && config == nil:
		err = s.client.Delete(t.Context(), now)
	case now != nil && !maps.Equal(now.Data, config.Data):
		now.Data = config.Data
		err = s.client.Update(t.Context(), now)
	}
	if err != nil {
		t.Errorf("restore the operator's ConfigMap: %v", err)
	}
}

// operatorConfig returns the ConfigMap with the settings of the operator, or nil if it does not exist.
func (s *site) operatorConfig(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	config := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: names.OperatorNamespace, Name: names.OperatorConfigMap}
	err := s.client.Get(t.Context(), key, config)
	if apierrors.IsNotFound(err) {
		return nil
	}
	testutil.Must(t, err)
	return config
}

// print writes the table of the results so far, if the flag -table is set.
func (s *site) print(t *testing.T) {
	t.Helper()
	if *resultTable == "" {
		return
	}
	file, err := os.Create(*resultTable)
	testutil.Must(t, err)
	defer file.Close()
	writeTable(file, s.rows)
}

func writeTable(file io.Writer, rows []pageResult) {
	slices.SortFunc(rows, func(a, b pageResult) int { return strings.Compare(a.path, b.path) })
	table := tabwriter.NewWriter(file, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PAGE\tON API SERVER\tON NODE\tONLY ON NODE\tSKIPPED BLOCKS\tSECONDS\tRESULT")
	var onServer, onNode, waiting, skipped, failed int
	for _, each := range rows {
		result := "ok"
		if n := len(each.result.Failures); n > 0 {
			result = fmt.Sprintf("%d failed", n)
			failed++
		}
		gate, node := each.result.Ran, 0
		if each.onNode {
			gate, node = node, gate
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%.1f\t%s\n", each.path, gate, node, each.waiting, len(each.skipped),
			each.took.Seconds(), result)
		onServer += gate
		onNode += node
		waiting += each.waiting
		skipped += len(each.skipped)
	}
	fmt.Fprintf(table, "%d pages\t%d\t%d\t%d\t%d\t\t%d failed\n", len(rows), onServer, onNode, waiting, skipped, failed)
	_ = table.Flush() // the table is additional output, so an error is ignored
	for _, each := range rows {
		for _, reason := range each.skipped {
			fmt.Fprintf(file, "skipped on %s: %s\n", each.path, reason)
		}
	}
	for _, each := range rows {
		for _, failure := range each.result.Failures {
			fmt.Fprintf(file, "\nFAILED %s:%d: %s\n", each.path, failure.Line, failure.Text)
		}
	}
}
