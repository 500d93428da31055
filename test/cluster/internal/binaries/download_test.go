package binaries

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
)

// published is a server with a release. A test can replace individual responses.
type published struct {
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	calls   int
}

func (p *published) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.calls++
	answer := p.answers[r.URL.Path]
	p.mu.Unlock()
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	answer(w, r)
}

func text(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) }
}

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// archive returns an archive like etcd's, with the given member.
func archive(t *testing.T, member, content string) string {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	for _, each := range []tar.Header{
		{Name: "etcd-v3.9.9-plan9-mips/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "etcd-v3.9.9-plan9-mips/README.md", Typeflag: tar.TypeReg, Mode: 0o644, Size: 0},
		{Name: member, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))},
	} {
		if err := files.WriteHeader(&each); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(files, content)
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

const (
	kubectlPath = "/release/v1.99.2/bin/plan9/mips/kubectl"
	etcdPath    = "/etcd/v3.9.9/etcd-v3.9.9-plan9-mips.tar.gz"
	etcdSums    = "/etcd/v3.9.9/SHA256SUMS"
)

// newRelease returns a bench that downloads the release from a local server.
func newRelease(t *testing.T) (bench, *published) {
	t.Helper()
	b := newBench(t)
	b.set = ControlPlane(line.Line{Name: "1.99", Version: "v1.99.2", Etcd: "v3.9.9", Module: b.set.Module})
	p := &published{answers: map[string]http.HandlerFunc{}}
	for _, name := range []string{"kubectl", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		path := "/release/v1.99.2/bin/plan9/mips/" + name
		p.answers[path] = text("released " + name)
		p.answers[path+".sha256"] = text(sumOf("released "+name) + "\n")
	}
	packed := archive(t, "etcd-v3.9.9-plan9-mips/etcd", "released etcd")
	p.answers[etcdPath] = text(packed)
	p.answers[etcdSums] = text(sumOf("") + "  etcd-v3.9.9-darwin-arm64.zip\n" +
		sumOf(packed) + "  etcd-v3.9.9-plan9-mips.tar.gz\n")
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	b.cache.Origin = Any
	b.cache.Source = Source{
		Kubernetes: server.URL + "/release", Etcd: server.URL + "/etcd", Connect: time.Second, Stall: 200 * time.Millisecond,
	}
	return b, p
}

func TestReleaseIsDownloadedOnce(t *testing.T) {
	b, p := newRelease(t)
	folder := b.ensure(t)
	if !strings.HasPrefix(filepath.Base(folder), "v1.99.2-release-plan9-mips-") {
		t.Errorf("the folder is %q", folder)
	}
	for _, program := range b.set.Programs {
		file := filepath.Join(folder, program.Name)
		data, err := os.ReadFile(file)
		if err != nil || string(data) != "released "+program.Name {
			t.Errorf("%s is %q (%v)", program.Name, data, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s cannot run: %v", program.Name, err)
		}
	}
	for _, want := range []string{"Downloading the release of Kubernetes v1.99.2", "Downloaded in", "verified checksums"} {
		if !strings.Contains(b.progress.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.progress)
		}
	}
	calls := p.calls
	b.progress.Reset()
	if again := b.ensure(t); again != folder || p.calls != calls || b.progress.Len() > 0 {
		t.Errorf("the second call returns %q, with %d more requests: %s", again, p.calls-calls, b.progress)
	}
	if got := b.builds(t); got != 0 {
		t.Errorf("%d builds", got)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(b.set.Programs) {
		t.Errorf("the folder has %v (%v)", entries, err)
	}
}

// If a set needs only some programs of a release, only these are downloaded, and the rest later.
func TestNeedsOfARelease(t *testing.T) {
	b, p := newRelease(t)
	b.set.Needs = []string{"kube-apiserver"}
	folder := b.ensure(t)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || p.calls != 2 {
		t.Errorf("the folder has %v after %d requests (%v), want the program after 2", entries, p.calls, err)
	}
	b.set.Needs = nil
	if all := b.ensure(t); all != folder || !complete(folder, b.set) || p.calls != 2*len(b.set.Programs) {
		t.Errorf("the folder of all programs is %q, after %d requests", all, p.calls)
	}
}

// If a release cannot be used, Ensure builds the programs. One line of the output states the reason.
func TestUnusableReleaseIsBuilt(t *testing.T) {
	const proxyPage = "<!DOCTYPE html>\n<html><body>Sign in to the network</body></html>"
	for name, test := range map[string]struct {
		path   string
		answer http.HandlerFunc
		want   string
	}{
		"another program": {kubectlPath, text("released kubectl 2"), "the published SHA-256 is " + sumOf("released kubectl")},
		"another sum":     {kubectlPath + ".sha256", text(sumOf("other")), "the published SHA-256 is " + sumOf("other")},
		"truncated": {kubectlPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			fmt.Fprint(w, "released")
		}, "unexpected EOF"},
		"slow": {kubectlPath, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "released ")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "received less than 1 MiB in 200ms"},
		"no answer": {kubectlPath + ".sha256", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "timeout"},
		"missing":   {kubectlPath, nil, "404 Not Found"},
		"a proxy's page instead of the checksums": {etcdSums, text(proxyPage), "the file does not contain the SHA-256 of etcd-v3.9.9-plan9-mips.tar.gz"},
		"a proxy's page instead of a checksum":    {kubectlPath + ".sha256", text(proxyPage), "the file does not contain the SHA-256 of kubectl"},
		"a proxy's page instead of the program":   {kubectlPath, text(proxyPage), "the published SHA-256 is"},
		"the checksum of another file": {
			etcdSums, text(sumOf("x") + "  other.tar.gz"), "the file does not contain the SHA-256 of etcd",
		},
		"an invalid archive":                     {etcdPath, text("x"), "the published SHA-256 is"},
		"a file of checksums with one long line": {etcdSums, text(strings.Repeat("a", 1<<21)), "token too long"},
	} {
		t.Run(name, func(t *testing.T) {
			b, p := newRelease(t)
			p.answers[test.path] = test.answer
			folder := b.ensure(t)
			if got := b.builds(t); got != 1 || !complete(folder, b.set) {
				t.Errorf("%d builds in %s", got, folder)
			}
			var reasons []string
			for said := range strings.Lines(b.progress.String()) {
				if strings.HasPrefix(said, "Cannot use the release of Kubernetes v1.99.2: ") {
					reasons = append(reasons, said)
				}
			}
			if len(reasons) != 1 || !strings.Contains(reasons[0], test.want) ||
				!strings.Contains(reasons[0], " from Go modules") {
				t.Errorf("reasons %q, want %q", reasons, test.want)
			}
			left, err := filepath.Glob(filepath.Join(b.cache.Folder, "*-release-*.partial"))
			if err != nil || len(left) > 0 {
				t.Errorf("left: %v (%v)", left, err)
			}
		})
	}
}

// If GitHub cannot be reached, only etcd is built.
func TestOneServerFails(t *testing.T) {
	b, _ := newRelease(t)
	b.cache.Source.Etcd = "http://127.0.0.1:1"
	folder := b.ensure(t)
	for name, want := range map[string]string{
		"etcd": "go.etcd.io/etcd/server/v3\n", "kube-apiserver": "released kube-apiserver",
	} {
		if data, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(data) != want {
			t.Errorf("%s is %q (%v), want %q", name, data, err, want)
		}
	}
	if want := "connection refused. Building etcd from Go modules"; !strings.Contains(b.progress.String(), want) {
		t.Errorf("no %q in:\n%s", want, b.progress)
	}
	b.progress.Reset()
	if again := b.ensure(t); again != folder || b.progress.Len() > 0 {
		t.Errorf("the second call returns %q: %s", again, b.progress)
	}
}

// If the archive of a release does not contain the program, Ensure reports this and builds the programs.
func TestArchiveWithoutProgram(t *testing.T) {
	b, p := newRelease(t)
	packed := archive(t, "etcd-v3.9.9-plan9-mips/etcdctl", "x")
	p.answers[etcdPath], p.answers[etcdSums] = text(packed), text(sumOf(packed)+"  etcd-v3.9.9-plan9-mips.tar.gz")
	b.ensure(t)
	if !strings.Contains(b.progress.String(), "unpacking etcd-v3.9.9-plan9-mips/etcd: EOF") {
		t.Errorf("progress:\n%s", b.progress)
	}
}

// If no server listens on the address of the release, Ensure reports this within seconds and builds the programs.
func TestWithoutNetwork(t *testing.T) {
	b, _ := newRelease(t)
	b.cache.Source.Kubernetes, b.cache.Source.Etcd = "http://127.0.0.1:1", "http://127.0.0.1:1"
	started := time.Now()
	b.ensure(t)
	if took := time.Since(started); took > 10*time.Second || !strings.Contains(b.progress.String(), "connection refused") {
		t.Errorf("after %v:\n%s", took, b.progress)
	}
}

func TestOrigins(t *testing.T) {
	b, p := newRelease(t)
	b.cache.Origin = Modules
	built := b.ensure(t)
	if p.calls > 0 || b.builds(t) == 0 {
		t.Errorf("%d requests and %d builds", p.calls, b.builds(t))
	}
	b.cache.Origin = Any
	if got := b.ensure(t); got != built || p.calls > 0 {
		t.Errorf("with a build: %q, %d requests", got, p.calls)
	}
	b.cache.Origin = Release
	p.answers[kubectlPath] = nil
	if _, err := b.cache.Ensure(t.Context(), b.set); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a missing release: %v", err)
	}
	for variables, want := range map[[2]string]Origin{
		{"", ""}: Any, {"", "true"}: Modules, {"build", ""}: Modules, {"release", "true"}: Release,
	} {
		got, err := OriginFrom(func(name string) string {
			return map[string]string{originVariable: variables[0], "CI": variables[1]}[name]
		})
		if err != nil || got != want {
			t.Errorf("%q: %v (%v), want %v", variables, got, err, want)
		}
	}
	if _, err := OriginFrom(func(string) string { return "maybe" }); err == nil {
		t.Error("an unknown value is accepted")
	}
}

// An interrupt during a download does not start a build.
func TestInterruptedDownload(t *testing.T) {
	b, p := newRelease(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.answers[kubectlPath] = func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }
	if _, err := b.cache.Ensure(ctx, b.set); err == nil || b.builds(t) > 0 {
		t.Errorf("%v, %d builds", err, b.builds(t))
	}
}
