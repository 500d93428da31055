//go:build server

package registry

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestManyResources checks that the program accepts a configuration with 10,000 resources.
func TestManyResources(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		models := make([]string, 10_000)
		for i := range models {
			models[i] = fmt.Sprintf(`{model_id: m%d, provider_id: vllm}`, i)
		}
		c := declares(models...)
		for range 2 {
			begin := time.Now()
			w.run(t, c)
			t.Logf("%s %s: %s for 10,000 resources", w.rel.Version, w.store, time.Since(begin).Round(10*time.Millisecond))
		}
		if got := len(w.declared(t, c)); got != 10_001 {
			t.Errorf("the list has %d entries", got)
		}
		w.env["LLS_GENERATION"] = "stack-1/2"
		if w.run(t, declares()); len(w.declared(t, c)) != 1 {
			t.Errorf("the list has %d entries", len(w.declared(t, c)))
		}
	})
}

// TestAtOnce runs several instances of the program at the same time while a client registers resources. The program
// must not lose a client's resource, and the program's list of declared entries must contain the newest generation.
func TestAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		var wait sync.WaitGroup
		for i := range 6 {
			scratch := t.TempDir()
			pod := w.pod(map[string]string{"LLS_GENERATION": "stack-1/" + strconv.Itoa(i+1)})
			wait.Go(func() {
				output, err := pod.start(t.Context(), scratch, c)
				if err != nil || !strings.Contains(output, "in line") {
					t.Errorf("%v\n%s", err, output)
				}
			})
		}
		var want []string
		for i := range 20 {
			id := "vs_" + strconv.Itoa(i)
			w.do(t, c, vectorStore(id))
			want = append(want, "vector_store:"+id)
		}
		wait.Wait()
		w.restart(t, c)
		got := w.ids(t, c)
		for _, id := range want {
			if !slices.Contains(got, id) {
				t.Errorf("%s is lost", id)
			}
		}
		if since := w.declared(t, c)["model:vllm/e"]; since != 6 {
			t.Errorf("the list has generation %d", since)
		}
	})
}

// oneRelease runs a test only with the last release, unless the test passed before with the same inputs. It is for
// tests that do not depend on the release. oneReleaseAgain runs a test every time.
func oneRelease(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	oneReleaseAgain(t, func(t *testing.T, w *world) { w.once(t, func() { test(t, w) }) })
}

func oneReleaseAgain(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	rel := releases(t)
	last := rel[len(rel)-1]
	p, python := peerOf(t, last.Version)
	test(t, (&world{peer: p, rel: last, python: python, script: program(t)}).with(t, "kv_sqlite"))
}

// TestLockedFile shows that the program exits within 20 seconds with a message if another process locks the file, and
// that it works again after the other process has exited.
func TestLockedFile(t *testing.T) {
	oneRelease(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		holder := exec.CommandContext(t.Context(), w.python, "-c", `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()`, filepath.Join(w.env["SQLITE_STORE_DIR"], "kvstore.db"))
		stdin, err := holder.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := holder.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := holder.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdout.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		output := w.run(t, c)
		if took := time.Since(begin); took > 20*time.Second || !strings.Contains(output, "database is locked") {
			t.Errorf("after %s:\n%s", took, output)
		}
		stdin.Close()
		if err := holder.Wait(); err != nil {
			t.Fatal(err)
		}
		w.restart(t, c)
	})
}

// TestVolumes shows that the program reports an error and does not change the registry if the volume is read-only or
// full. A file size limit simulates a full volume.
func TestVolumes(t *testing.T) {
	oneReleaseAgain(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		for _, tc := range []struct{ name, shell, want string }{
			// Root can write to directories without write permission, so the file system must be mounted read-only.
			{"read-only", `chmod 0555 "$SQLITE_STORE_DIR"; chmod 0444 "$SQLITE_STORE_DIR"/*; exec "$@"`, "OperationalError"},
			{"full", `ulimit -f 1; exec "$@"`, "OperationalError"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				shell := []string{"/bin/sh", "-c", tc.shell, "--"}
				if os.Geteuid() == 0 && tc.name == "read-only" {
					shell = []string{"unshare", "--mount", "/bin/sh", "-c", `mount --bind "$SQLITE_STORE_DIR" "$SQLITE_STORE_DIR" && mount -o remount,ro,bind "$SQLITE_STORE_DIR" && exec "$@"`, "--"}
				}
				w.once(t, func() { w.with(t, w.store).runOnVolume(t, c, shell, tc.want) })
			})
		}
	})
}

// runOnVolume runs the program with a command that makes the volume unusable, and checks that the registry is kept.
func (w *world) runOnVolume(t *testing.T, c config, shell []string, want string) {
	t.Helper()
	w.restart(t, c)
	w.do(t, c, vectorStore("vs_1"))
	before := w.ids(t, c)
	bigger := declares(modelA, `{model_id: `+strings.Repeat("long", 1<<13)+`, provider_id: vllm}`)
	wrapped := *w
	wrapped.python = wrapper(t, append(shell, w.python))
	output := wrapped.run(t, bigger)
	if !strings.Contains(output, "not changed: "+want) {
		t.Errorf("output is\n%s", output)
	}
	if err := os.Chmod(w.env["SQLITE_STORE_DIR"], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.env["SQLITE_STORE_DIR"], "kvstore.db"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.ids(t, c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// wrapper writes a script that runs a command with the script's arguments, and returns the path of the script.
func wrapper(t *testing.T, command []string) string {
	t.Helper()
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec "+strings.Join(quoted, " ")+` "$@"`+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBackendsThatRefuse runs the program with a wrong password, and with a backend that is not running or does not
// respond. It shows that the program prints a message within the time limit, and that the output does not contain the
// password.
func TestBackendsThatRefuse(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		if w.store == "kv_sqlite" {
			return
		}
		c := declares(modelA)
		text := c.text(w)
		port := strconv.Itoa(shared.redis)
		if w.store == "kv_postgres" {
			port = strconv.Itoa(shared.postgres)
		}
		var listening net.ListenConfig
		silent, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		dead, err := testutil.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name, text string
			env        map[string]string
			within     time.Duration
		}{
			{
				"wrong password", text,
				map[string]string{"REDIS_PASSWORD": "canary-wrong", "POSTGRES_PASSWORD": "canary-wrong"},
				15 * time.Second,
			},
			{"dead", strings.Replace(text, "port: "+port, "port: "+strconv.Itoa(dead), 1), nil, 15 * time.Second},
			{
				"silent", strings.Replace(text, "port: "+port, "port: "+strconv.Itoa(silent.Addr().(*net.TCPAddr).Port), 1), nil,
				25 * time.Second,
			},
			{"odd host", strings.Replace(text, "127.0.0.1", "canary host [", 1), nil, 15 * time.Second},
		} {
			pod := w.pod(tc.env)
			begin := time.Now()
			output := pod.run(t, config{inFull: tc.text})
			if took := time.Since(begin); took > tc.within || !strings.Contains(output, "not changed") {
				t.Errorf("%s: after %s:\n%s", tc.name, took, output)
			}
		}
	})
}

// TestLibraries shows the result if the image does not contain a library, if only the server can import the library, or
// if the library hangs in code that no signal interrupts.
func TestLibraries(t *testing.T) {
	const missing = `raise ModuleNotFoundError("No module named 'x'", name=__name__)`
	const notForUs = `
import importlib, sys
frame = sys._getframe()
while frame:
    owner = frame.f_locals.get("self")
    stores = frame.f_code.co_filename.endswith("startup_stores.py")
    if stores and type(owner).__name__ in ("Redis", "Postgres", "Asyncpg"):
        raise ModuleNotFoundError("not for us", name=__name__)
    frame = frame.f_back
sys.path.remove(__file__.rpartition("/")[0])
del sys.modules[__name__]
sys.modules[__name__] = importlib.import_module(__name__)`
	const hangs = `
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
time.sleep(100)`
	eachStore(t, func(t *testing.T, w *world) {
		if w.store == "kv_sqlite" {
			return
		}
		c := declares(modelA)
		w.env["LLS_REGISTRY_SECONDS"] = "120" // on a slow machine, importing the server's classes takes a long time
		with := func(text string) *world {
			dir := t.TempDir()
			for _, name := range []string{"redis", "psycopg2", "asyncpg"} {
				writeFile(t, filepath.Join(dir, name+".py"), text)
			}
			return w.pod(map[string]string{"PYTHONPATH": dir})
		}
		if output := with(missing).run(t, c); !strings.Contains(output, "the image does not contain the Python library") {
			t.Errorf("without the library:\n%s", output)
		}
		w.restart(t, c)
		w.do(t, c, vectorStore("vs_1"))
		w.former(t, vectorStore("vs_plain"))
		w.env["LLS_GENERATION"] = "stack-1/2"
		output := with(notForUs).run(t, declares())
		if !strings.Contains(output, "in line") {
			t.Errorf("with the server's classes:\n%s", output)
		}
		if diff := cmp.Diff([]string{"vector_store:vs_1"}, w.ids(t, c)); diff != "" {
			t.Errorf("with the server's classes (-want +got):\n%s\n%s", diff, output)
		}
		if got := w.declared(t, c); len(got) != 1 || got["model:vllm/e"] != 2 {
			t.Errorf("with the server's classes, the list is %v", got)
		}
	})
	oneRelease(t, func(t *testing.T, w *world) {
		w = w.with(t, "kv_redis")
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "redis.py"), hangs)
		w.env["PYTHONPATH"], w.env["LLS_REGISTRY_SECONDS"] = dir, "1"
		begin := time.Now()
		output := w.run(t, declares(modelA))
		if took := time.Since(begin); took > time.Minute || !strings.Contains(output, "ended after 6 s: a library did not respond") {
			t.Errorf("after %s:\n%s", took, output)
		}
	})
}

// TestDrivers checks that the program can update the registry if only one of the two PostgreSQL libraries is installed.
// If the release supports connection strings, the test also runs the program with a connection string.
func TestDrivers(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world) {
		backend, _ := w.rel.Storage.Backend("kv_postgres")
		for _, uri := range []bool{false, true} {
			for _, missing := range []string{"psycopg2", "asyncpg"} {
				if uri && backend.ConnectionStringKey == "" {
					continue
				}
				w := w.with(t, "kv_postgres")
				w.uri = uri
				w.env["POSTGRES_URI"] = (&url.URL{
					Scheme: "postgresql", User: url.UserPassword(postgresUser, password),
					Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(shared.postgres)), Path: "/postgres",
				}).String()
				dir := t.TempDir()
				writeFile(t, filepath.Join(dir, missing+".py"), `raise ModuleNotFoundError("missing", name=__name__)`)
				before, after := declares(modelA), declares()
				w.pod(map[string]string{"PYTHONPATH": dir}).run(t, before)
				if failure := w.boot(t, before); failure != "" {
					t.Fatal(failure)
				}
				w.do(t, before, vectorStore("vs_1"))
				output := w.pod(map[string]string{"PYTHONPATH": dir, "LLS_GENERATION": "stack-1/2"}).run(t, after)
				if diff := cmp.Diff([]string{"vector_store:vs_1"}, w.ids(t, after)); diff != "" {
					t.Errorf("without %s, with connection string %v (-want +got):\n%s\n%s", missing, uri, diff, output)
				}
			}
		}
	})
}

// TestTimeLimit shows that the program exits at its time limit if a signal can interrupt it, and that it has not
// written any changes.
func TestTimeLimit(t *testing.T) {
	oneRelease(t, func(t *testing.T, w *world) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "yaml.py"), "import time\ntry:\n    time.sleep(100)\nexcept Exception:\n    time.sleep(100)\n")
		w.env["PYTHONPATH"] = dir
		output := w.run(t, declares(modelA))
		if !strings.Contains(output, "the time limit of 15 s is exceeded") {
			t.Errorf("output is\n%s", output)
		}
		if exists(t, filepath.Join(w.env["SQLITE_STORE_DIR"], "kvstore.db")) {
			t.Error("the program created a file")
		}
	})
}

// TestNoServer shows that the program exits without an error when its Python does not contain the server, and that it
// prints a message.
func TestNoServer(t *testing.T) {
	oneRelease(t, func(t *testing.T, w *world) {
		cmd := exec.CommandContext(t.Context(), w.python, "-S", filepath.Join(w.script, names.RegistryProgram), "--config", "/does/not/matter")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		output, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "the image has none of the packages ogx, llama-stack") {
			t.Errorf("%v\n%s", err, output)
		}
	})
}
