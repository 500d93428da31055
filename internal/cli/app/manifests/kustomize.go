package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
)

// kustomizeTime is the time limit for a build, which may read bases over the network.
const kustomizeTime = 2 * time.Minute

// kustomizers are the programs that build a kustomization, in order of preference.
var kustomizers = [][]string{{"kubectl", "kustomize"}, {"kustomize", "build"}}

// kustomized returns the documents that Kustomize builds from a folder. It runs Kustomize as a separate program
// (decision 0024).
func kustomized(folder string) ([]document.Document, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--kustomize: %q is not a folder; use a folder that contains a kustomization.yaml", folder)
	}
	arguments, err := kustomizer()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), kustomizeTime)
	defer cancel()
	var out, messages bytes.Buffer
	command := exec.CommandContext(ctx, arguments[0], append(arguments[1:], folder)...)
	command.Stdout, command.Stderr = &out, &messages
	if err := command.Run(); err != nil {
		text := buildError(messages.String())
		if text == "" || ctx.Err() != nil {
			text = errors.Join(err, ctx.Err()).Error()
		}
		return nil, &app.Rejection{
			Problems: []string{fmt.Sprintf("kustomize %s: %s", folder, strings.ReplaceAll(text, "\n", "; "))},
			Summary:  "the kustomization cannot be built",
		}
	}
	return document.Generated("kustomize "+folder, out.Bytes()), nil
}

// loggedError matches an error that kubectl logs in the format of Kubernetes components.
var loggedError = regexp.MustCompile(`(?m)^E\d{4} \S+ +\d+ \S+\] "command failed" err=("(?:[^"\\]|\\.)*")$`)

// buildError returns the message of a failed build, without the prefixes that kubectl and Kustomize add.
func buildError(messages string) string {
	if match := loggedError.FindStringSubmatch(messages); match != nil {
		if text, err := strconv.Unquote(match[1]); err == nil {
			return text
		}
	}
	text := strings.TrimSpace(messages)
	return strings.TrimPrefix(strings.TrimPrefix(text, "error: "), "Error: ")
}

// kustomizer returns the path and the arguments of the first kustomizer that is installed.
func kustomizer() ([]string, error) {
	for _, arguments := range kustomizers {
		if program, err := exec.LookPath(arguments[0]); err == nil {
			return append([]string{program}, arguments[1:]...), nil
		}
	}
	return nil, errors.New("--kustomize: neither kubectl nor kustomize is on the PATH; install one of them, " +
		"or build the manifests on another machine and use --filename")
}
