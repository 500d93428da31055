package install

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// instruction is one instruction in a Dockerfile.
type instruction struct{ name, arguments string }

// dockerfile returns the instructions of each stage. It supports neither heredocs nor escape characters other than the
// backslash, because the Dockerfiles in this repository do not use them.
func dockerfile(t *testing.T) [][]instruction {
	t.Helper()
	var stages [][]instruction
	var line string
	for text := range strings.SplitSeq(readFile(t, "Dockerfile"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(text), "#") || strings.TrimSpace(text) == "" {
			continue
		}
		line += text
		if before, more := strings.CutSuffix(line, `\`); more {
			line = before
			continue
		}
		name, arguments, _ := strings.Cut(line, " ")
		if name == "FROM" {
			stages = append(stages, nil)
		}
		last := len(stages) - 1
		stages[last] = append(stages[last], instruction{name, strings.Join(strings.Fields(arguments), " ")})
		line = ""
	}
	if len(stages) != 2 {
		t.Fatalf("the Dockerfile has %d stages, want two: one for the build, and one for the image", len(stages))
	}
	return stages
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testutil.Root(), path))
	testutil.Must(t, err)
	return string(data)
}

// all returns the arguments of every instruction with the given name.
func all(stage []instruction, name string) []string {
	var found []string
	for _, each := range stage {
		if each.name == name {
			found = append(found, each.arguments)
		}
	}
	return found
}

// only returns the arguments of the instruction with the given name. It fails the test if there is not exactly one such
// instruction.
func only(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	found := all(stage, name)
	if len(found) != 1 {
		t.Fatalf("the stage has %d instructions %s, want one", len(found), name)
	}
	return found[0]
}

// The base images are pinned by digest, and the build runs without emulation of a different processor.
func TestBasesArePinned(t *testing.T) {
	stages := dockerfile(t)
	pinned := regexp.MustCompile(`^(--platform=\$BUILDPLATFORM )?[a-z.]+/[a-z0-9/-]+:[a-z0-9.]+@sha256:[0-9a-f]{64}( AS build)?$`)
	for _, stage := range stages {
		if base := only(t, stage, "FROM"); !pinned.MatchString(base) {
			t.Errorf("FROM %s: the image has no tag or no digest", base)
		}
	}
	if base := only(t, stages[0], "FROM"); !strings.HasPrefix(base, "--platform=$BUILDPLATFORM ") {
		t.Errorf("FROM %s: the compiler would run in emulation; set --platform=$BUILDPLATFORM", base)
	}
	if base := only(t, stages[1], "FROM"); !strings.HasPrefix(base, "gcr.io/distroless/static-debian") ||
		!strings.Contains(base, ":nonroot@") {
		t.Errorf("FROM %s: want the static base image with the user nonroot", base)
	}
}

// The image is built with the Go version in go.mod, or with a newer patch release of this version.
func TestTheImageHasTheGoOfTheModule(t *testing.T) {
	wanted := regexp.MustCompile(`(?m)^go (1\.\d+)\.(\d+)$`).FindStringSubmatch(readFile(t, "go.mod"))
	base := only(t, dockerfile(t)[0], "FROM")
	got := regexp.MustCompile(`/golang:(1\.\d+)\.(\d+)@`).FindStringSubmatch(base)
	if wanted == nil || got == nil {
		t.Fatalf("there is no Go version in go.mod (%v) or in FROM %s (%v)", wanted, base, got)
	}
	least, _ := strconv.Atoi(wanted[2])
	if patch, _ := strconv.Atoi(got[2]); got[1] != wanted[1] || patch < least {
		t.Errorf("built with Go %s.%s, but go.mod requires %s.%s", got[1], got[2], wanted[1], wanted[2])
	}
}

func TestProgramIsStaticAndContainsItsVersion(t *testing.T) {
	build := dockerfile(t)[0]
	runs := all(build, "RUN")
	command := runs[len(runs)-1]
	for _, part := range []string{
		"CGO_ENABLED=0 ", "GOOS=$TARGETOS ", "GOARCH=$TARGETARCH ", "-trimpath ", "-X main.version=$VERSION", " -o /manager ",
		" ./cmd/manager",
	} {
		if !strings.Contains(command, part) {
			t.Errorf("the program is built without %q: %s", part, command)
		}
	}
	if declared := strings.Join(all(build, "ARG"), " "); declared != "TARGETOS TARGETARCH VERSION" {
		t.Errorf("arguments of the build are %q", declared)
	}
	if !strings.Contains(readFile(t, "cmd/manager/main.go"), "\nvar version string\n") {
		t.Error("cmd/manager has no variable version, so the build cannot set the version")
	}
}

// The image defines the program and its user, because the manifest does not set them.
func TestTheImageFitsTheManifest(t *testing.T) {
	stages := dockerfile(t)
	shipped := stages[1]
	var entrypoint []string
	if err := json.Unmarshal([]byte(only(t, shipped, "ENTRYPOINT")), &entrypoint); err != nil || len(entrypoint) != 1 {
		t.Fatalf("ENTRYPOINT is %q (error %v), want one program without a shell", entrypoint, err)
	}
	if copied := only(t, shipped, "COPY"); copied != "--from=build /manager "+entrypoint[0] {
		t.Errorf("the arguments of COPY are %s, but the entry point is %s", copied, entrypoint[0])
	}
	if names := all(shipped, "CMD"); names != nil {
		t.Errorf("CMD %q adds arguments that the manifest does not contain", names)
	}
	user := only(t, shipped, "USER")
	var uid, gid int
	if n, err := fmt.Sscanf(user, "%d:%d", &uid, &gid); n != 2 || err != nil || uid == 0 || gid == 0 {
		t.Errorf("USER %s: the kubelet accepts only a numeric user other than root", user)
	}
	pod := one[appsv1.Deployment](t, read(t, plain), "Deployment").Spec.Template.Spec
	container := pod.Containers[0]
	if container.Command != nil {
		t.Errorf("the Deployment starts %q instead of the image's entry point", container.Command)
	}
	if own := container.SecurityContext; pod.SecurityContext.RunAsUser != nil || own.RunAsUser != nil {
		t.Error("the Deployment sets a user, but OpenShift chooses the user, and on other clusters the image sets it")
	}
}

func TestTheImageIsLabeled(t *testing.T) {
	labels := only(t, dockerfile(t)[1], "LABEL")
	for _, key := range []string{"title", "description", "source", "licenses", "version", "revision"} {
		if !regexp.MustCompile(`(^| )org\.opencontainers\.image\.` + key + `="[^"]+"`).MatchString(labels) {
			t.Errorf("the image has no label %s: %s", key, labels)
		}
	}
}

// sources returns the files in this module from which the operator binary is built, including embedded files.
func sources(t *testing.T) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"-f", `{{if and .Module .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}`,
		"./cmd/manager")
	command.Dir = testutil.Root()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("list the packages of cmd/manager: %v", err)
	}
	var files []string
	for line := range strings.SplitSeq(string(out), "\n") {
		if line == "" {
			continue
		}
		file, err := filepath.Rel(testutil.Root(), line)
		testutil.Must(t, err)
		files = append(files, file)
	}
	return files
}

// The Dockerfile copies every file that the build needs, and .dockerignore does not exclude it.
func TestDockerfileCopiesEveryFile(t *testing.T) {
	var copied []string
	for _, arguments := range all(dockerfile(t)[0], "COPY") {
		from := strings.Fields(arguments)
		copied = append(copied, from[:len(from)-1]...)
	}
	ignored := strings.Split(strings.TrimSpace(readFile(t, ".dockerignore")), "\n")
	files := append(sources(t), "go.mod", "go.sum")
	if len(files) < 100 {
		t.Fatalf("found only %d files of cmd/manager", len(files))
	}
	for _, file := range files {
		if !slices.ContainsFunc(copied, func(path string) bool { return file == path || strings.HasPrefix(file, path) }) {
			t.Errorf("the Dockerfile does not copy %s", file)
		}
		if heldBack(ignored, file) {
			t.Errorf(".dockerignore excludes %s", file)
		}
	}
	for _, file := range []string{
		"README.md", "internal/core/plan/testdata/x.yaml", "internal/operator/manager/run_test.go",
		"cmd/kubectl-llamastack/main.go", ".git/config",
	} {
		if !heldBack(ignored, file) {
			t.Errorf(".dockerignore does not exclude %s, so a change of it would rebuild the image", file)
		}
	}
}

// heldBack reports whether .dockerignore excludes a path. It supports only the kinds of patterns in this repository: a
// path with all paths below it, * alone, **/ before a name, and ! for an exception. The last pattern that matches
// applies.
func heldBack(patterns []string, file string) bool {
	held := false
	for _, pattern := range patterns {
		if strings.HasPrefix(pattern, "#") {
			continue
		}
		path, letIn := strings.CutPrefix(pattern, "!")
		name, anywhere := strings.CutPrefix(path, "**/")
		fits := path == "*" || file == path || strings.HasPrefix(file, path+"/")
		for part := range strings.SplitSeq(file, "/") {
			if matched, _ := filepath.Match(name, part); anywhere && matched {
				fits = true
			}
		}
		if fits {
			held = !letIn
		}
	}
	return held
}
