package image

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// TestOperator shows that the operator's image corresponds to the image that is shipped. The pods of test/node start
// from these images, and fail if a file, a mode, an owner or a digest is wrong.
func TestOperator(t *testing.T) {
	image, err := Operator(t.Context(), t.TempDir(), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile(filepath.Join(worktree.Root(), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("\nUSER %s\n", config.Config.User),
		fmt.Sprintf("\nENTRYPOINT [%q]\n", config.Config.Entrypoint[0]),
		`go build -trimpath -ldflags "-s -w -X main.version=`,
		fmt.Sprintf("org.opencontainers.image.title=%q", config.Config.Labels["org.opencontainers.image.title"]),
	} {
		if !strings.Contains(string(dockerfile), want) {
			t.Errorf("the Dockerfile does not contain %q", want)
		}
	}
}

func TestPublishRefuses(t *testing.T) {
	for wanted, want := range map[string]string{
		"server":      `publish "server": want operator, databases, standin@<release> or server@<release>`,
		"standin@9.9": "find the configuration of the stand-in",
		"server@9.9":  "find the release of the server image",
	} {
		if _, err := Publish(t.Context(), "localhost:1", "", wanted); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", wanted, err, want)
		}
	}
}
