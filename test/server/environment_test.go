//go:build server

package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// testedRelease is the server release of the distribution starter.
const testedRelease = "0.7.3"

// tokenizerTable is the name under which tiktoken looks for cl100k_base in its
// cache directory. The providers of vector_io load it when they start.
const tokenizerTable = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"

// environment is where the server's own programs and what they need lie.
type environment struct {
	llama     string // the server's command line
	tokenizer string // directory for TIKTOKEN_CACHE_DIR
	postgres  string // installation directory of PostgreSQL
}

// installed is made once, before the first test.
var installed environment

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if installed, err = install(testedRelease); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scratch, err := scratchDirectory()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	go func() {
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
		<-interrupted
		killAll()
		os.RemoveAll(scratch)
		os.Exit(1)
	}()
	return m.Run()
}

// scratchDirectory makes the directory that every temporary file of the test
// lies in, so that one removal takes them all. Other users may enter it:
// PostgreSQL runs as one of them when the test runs as root.
func scratchDirectory() (string, error) {
	dir, err := os.MkdirTemp("", "llama-stack-server-test-")
	if err != nil {
		return "", fmt.Errorf("make scratch directory: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", fmt.Errorf("open scratch directory: %w", err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return "", fmt.Errorf("use scratch directory: %w", err)
	}
	return dir, nil
}

// install makes the environments in the user's cache directory. Their names
// hold a digest of the lock, so that a changed lock never meets old packages.
func install(release string) (environment, error) {
	server, err := pythonEnvironment("server-"+release+".txt", release)
	if err != nil {
		return environment{}, err
	}
	support, err := pythonEnvironment("support.txt", "support", "--no-deps")
	if err != nil {
		return environment{}, err
	}
	packages := filepath.Join(support, "..", "lib", "python3.*", "site-packages")
	tokenizer, err := theOne(filepath.Join(packages, "litellm", "litellm_core_utils", "tokenizers", tokenizerTable))
	if err != nil {
		return environment{}, err
	}
	postgres, err := theOne(filepath.Join(packages, postgresPackage))
	if err != nil {
		return environment{}, err
	}
	return environment{
		llama:     filepath.Join(server, "llama"),
		tokenizer: filepath.Dir(tokenizer),
		postgres:  postgres,
	}, nil
}

// pythonEnvironment installs a lock and returns the bin directory.
func pythonEnvironment(lock, name string, options ...string) (string, error) {
	path := filepath.Join("environment", lock)
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read lock: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache directory: %w", err)
	}
	dir := filepath.Join(cache, "llama-stack-k8s-operator", "server",
		fmt.Sprintf("%s-%.6x", name, sha256.Sum256(content)))

	var stdout bytes.Buffer
	cmd := exec.Command(filepath.Join("..", "..", "hack", "server-env"), append(options, path, dir)...)
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("install %q: %w", path, err)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// theOne returns the only path that a pattern matches.
func theOne(pattern string) (string, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("find %q: %w", pattern, err)
	}
	if len(paths) != 1 {
		return "", fmt.Errorf("find %q: want one match, got %q", pattern, paths)
	}
	return paths[0], nil
}
