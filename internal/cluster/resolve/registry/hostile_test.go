package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// rule determines when an image is read again after a response.
type rule string

const (
	// again means that the image is read again after growing pauses, because a later attempt can succeed without a change.
	again rule = "again"
	// refused means that the image is read again after growing pauses, because the operator is not notified when a user
	// fixes the failure.
	refused rule = "refused"
	// stays means that the image is read again only when the reference, the image to which it resolves, or the options
	// change.
	stays rule = "stays"
	// fine means that the read succeeds, because the response is unusual but harmless.
	fine rule = "fine"
)

// hostileAnswer is the behavior of a registry when an image is read.
type hostileAnswer struct {
	name string
	does func(*forged)
	rule rule
	// pause is the pause that the registry requires.
	pause time.Duration
	// host replaces hostileHost. pinned makes the test read the image by its digest.
	host   string
	pinned bool
}

const (
	hostileHost = "registry.example.com"
	// forbidden is part of every credential, every token and every text that a remote host sends. Messages must not
	// contain it.
	forbidden = "s3cret"
)

// forged is a repository with arbitrary content.
type forged struct {
	tag     []byte
	content map[string][]byte // by digest
	answers []forgedAnswer
}

type forgedAnswer struct {
	path   string // part of the path, or the whole path when it ends in /v2/
	answer http.HandlerFunc
}

// on replaces the response to requests for a path.
func (f *forged) on(path string, answer http.HandlerFunc) {
	f.answers = append(f.answers, forgedAnswer{path, answer})
}

// add adds content and returns its descriptor for a manifest.
func (f *forged) add(content []byte) string {
	digest := digestOfBytes(content)
	f.content[digest] = content
	return fmt.Sprintf(`{"digest":%q,"size":%d}`, digest, len(content))
}

// image adds a manifest with a configuration and layers, and moves the tag to the manifest.
func (f *forged) image(config string, layers ...[]byte) string {
	var list []string
	for _, layer := range layers {
		list = append(list, f.add(layer))
	}
	f.tag = fmt.Appendf(nil, `{"schemaVersion":2,"config":%s,"layers":[%s]}`, f.add([]byte(config)), strings.Join(list, ","))
	return f.add(f.tag)
}

// labels returns the configuration of an image with labels.
func labels(of map[string]string) string {
	content, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	return `{"config":{"Labels":` + string(content) + `}}`
}

// layered adds an image whose server configuration is a file in a layer.
func (f *forged) layered(path string, layer []byte) {
	f.image(labels(map[string]string{LabelLayer: digestOfBytes(layer), LabelPath: path}), layer)
}

// ServeHTTP serves the repository.
func (f *forged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, one := range f.answers {
		if r.URL.Path == one.path || !strings.HasSuffix(one.path, "/v2/") && strings.Contains(r.URL.Path, one.path) {
			one.answer(w, r)
			return
		}
	}
	last := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	content, ok := f.content[last]
	switch {
	case r.URL.Path == "/v2/":
	case last == "1":
		_, _ = w.Write(f.tag)
	case ok:
		_, _ = w.Write(content)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"errors":[{"code":"BLOB_UNKNOWN","message":%q}]}`, forbidden)
	}
}

// reads holds the times at which a pool read the image.
type reads struct {
	mu sync.Mutex
	at []time.Time
}

func (r *reads) credentials(context.Context, Target, []string) (authn.Keychain, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = append(r.at, time.Now())
	keychain := &Keychain{}
	return keychain, keychain.Add(fmt.Appendf(nil, `{"auths":{"example.com":{},%q:{"auth":%q}}}`, hostileHost, encoded("robot:"+forbidden)))
}

func (r *reads) counted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.at)
}

// TestHostileAnswers checks the message that a user sees for each response from a registry, and the time at which the
// image is read again.
func TestHostileAnswers(t *testing.T) {
	network := newHostileNetwork(t)
	table := append(hostileContent(t), hostileLayers(t)...)
	table = append(append(table, hostileTransfers()...), hostileRefusals()...)
	log.SetOutput(io.Discard) // the HTTP client logs some of these responses
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	var told strings.Builder
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { told.WriteString(row.run(t, network)) })
		})
	}
	if failures := len(table) - strings.Count(told.String(), ": fine\n"); failures < 60 {
		t.Errorf("%d hostile answers, want at least 60", failures)
	}
	golden.Dir(t, "testdata/hostile", map[string][]byte{"answers.txt": []byte(told.String())})
}

// run makes a pool read the image, and returns the golden file's line for the case: the rule and the message that a
// user sees.
func (row *hostileAnswer) run(t *testing.T, network *hostileNetwork) string {
	decoders = &sync.Pool{} // each bubble needs its own pool
	t.Cleanup(func() { decoders = &sync.Pool{} })
	repository := &forged{content: map[string][]byte{}}
	repository.image(labels(map[string]string{LabelBase64: encoded(config)}))
	row.does(repository)
	reads := &reads{}
	pool := NewPool(PoolOptions{Credentials: reads.credentials, Notify: func(context.Context, types.NamespacedName) {}})
	pool.Configure(Options{Platform: v1.Platform{OS: "linux", Architecture: "amd64"}})
	network.serve(t, pool.reader, repository)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- pool.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	host := row.host
	if host == "" {
		host = hostileHost
	}
	asked := target("my", host+"/team/server:1")
	if row.pinned {
		asked = target("my", host+"/team/server@"+digestOfBytes(repository.tag))
	}
	pool.Read(asked)
	pass(DefaultTimeout + time.Second)
	synctest.Wait()
	outcome, ok := pool.Read(asked)
	switch {
	case !ok:
		t.Fatal("no outcome in time")
	case row.rule == fine && (outcome.Err != nil || outcome.Image.Digest != digestOfBytes(repository.tag) ||
		string(outcome.Image.Config) != config):
		t.Fatalf("got %+v, %v", outcome.Image, outcome.Err)
	case row.rule != fine && outcome.Err == nil:
		t.Fatalf("got %+v", outcome.Image)
	}
	row.checkRule(t, pool, asked, reads, outcome.Err)
	told := message(outcome.Err)
	if strings.Contains(told, forbidden) {
		t.Errorf("the message shows forbidden content: %s", told)
	}
	when := string(row.rule)
	if row.pause > 0 {
		when += fmt.Sprintf(", not before %v", row.pause)
	}
	if row.rule == fine {
		return fmt.Sprintf("%s: %s\n", row.name, when)
	}
	return fmt.Sprintf("%s: %s\n\t%s\n", row.name, when, told)
}

// checkRule waits for further attempts and checks them.
func (row *hostileAnswer) checkRule(t *testing.T, pool *Pool, asked Target, reads *reads, err error) {
	if got := Transient(err); err != nil && got != (row.rule == again) {
		t.Errorf("transient: %t", got)
	}
	pass(max(150*time.Second, row.pause+row.pause/4+time.Second))
	synctest.Wait()
	reads.mu.Lock()
	at := reads.at
	reads.mu.Unlock()
	switch row.rule {
	case stays, fine:
		if len(at) != 1 {
			t.Errorf("the image was read at %v, want once", at)
		}
	case again, refused:
		early := len(at) < 2 || at[1].Sub(at[0]) < max(firstRetry, row.pause)
		if early || row.pause == 0 && (len(at) < 3 || at[2].Sub(at[1]) <= at[1].Sub(at[0])) {
			t.Errorf("the image was read at %v, want growing pauses of at least %v", at, max(firstRetry, row.pause))
		}
	}
	// A different reference is read immediately.
	before := reads.counted()
	asked.Image = strings.TrimSuffix(asked.Image, ":1") + "-of-another-name:1"
	if row.pinned {
		asked.Image = hostileHost + "/team/other:1"
	}
	pool.Read(asked)
	synctest.Wait()
	if reads.counted() != before+1 {
		t.Errorf("another reference was read %d times, want once", reads.counted()-before)
	}
}
