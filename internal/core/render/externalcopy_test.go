package render_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// packaged is the content of an image's /lls-provider, keyed by path. A string with the prefix -> is a link, and nil is
// a directory.
type packaged map[string]any

const (
	linkTo   = "->"
	metadata = "lls-provider-spec.yaml"
	// unprivileged is the ID of a user without privileges, as in a pod.
	unprivileged = 1001
)

// plain is a valid package.
var plain = packaged{
	metadata: "kind: ProviderPackage\n", "packages": nil, "packages/a b.whl": "wheel", ".hidden": "h",
	"..odd": "o",
}

func (p packaged) with(more packaged) packaged {
	result := packaged{}
	maps.Copy(result, plain)
	maps.Copy(result, more)
	return result
}

// copying is an environment in which the script has only the programs of one kind of image.
type copying struct {
	source, target, log, bin string
	shell                    []string
	script                   string
}

// images returns the command that starts the shell in each kind of image. The keys are the names of these kinds in the
// test.
func images(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{"sh": {"/bin/sh"}}
	for name, arguments := range map[string][]string{"dash": nil, "bash": {"--posix"}, "busybox": {"sh"}} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Logf("%s is not installed on this machine", name)
			continue
		}
		found[name] = append([]string{program}, arguments...)
	}
	return found
}

// programs are the programs that an image needs in addition to its shell.
var programs = []string{"cp", "du", "rm", "chmod", "sleep", "timeout"}

func newCopying(t *testing.T, image string, shell []string, files packaged) *copying {
	t.Helper()
	root := t.TempDir()
	chmod(t, filepath.Dir(root), 0o755) // another user reads the folder
	c := &copying{
		source: filepath.Join(root, "lls-provider"), target: filepath.Join(root, "target"), bin: filepath.Join(root, "bin"),
		log: filepath.Join(root, "log"), shell: shell, script: copyScript(t),
	}
	for _, dir := range []string{c.target, c.bin} {
		mkdir(t, dir)
	}
	if files != nil {
		mkdir(t, c.source)
	}
	for _, program := range programs {
		at, err := exec.LookPath(program)
		if image == "busybox" {
			at, err = shell[0], nil
		}
		if err == nil {
			err = os.Symlink(at, filepath.Join(c.bin, program))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		write(t, filepath.Join(c.source, name), files[name])
	}
	write(t, c.log, "")
	chmod(t, c.log, 0o666)
	return c
}

func write(t *testing.T, place string, content any) {
	t.Helper()
	text, isFile := content.(string)
	link, isLink := strings.CutPrefix(text, linkTo)
	var err error
	switch {
	case !isFile:
		err = os.MkdirAll(place, 0o755)
	case isLink:
		err = os.Symlink(link, place)
	default:
		err = os.WriteFile(place, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	chmod(t, dir, 0o777)
}

func chmod(t *testing.T, place string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(place, mode); err != nil {
		t.Fatal(err)
	}
}

// hasPrograms skips a test for a shell whose built-in programs take precedence over the image's programs.
func (c *copying) hasPrograms(t *testing.T) {
	t.Helper()
	if len(c.shell) > 1 && c.shell[1] == "sh" {
		t.Skip("busybox runs its own programs")
	}
}

// replace replaces a program in the image. An empty script removes it.
func (c *copying) replace(t *testing.T, program, script string) {
	t.Helper()
	place := filepath.Join(c.bin, program)
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	if script == "" {
		return
	}
	if err := os.WriteFile(place, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run returns the termination message and the exit code.
func (c *copying) run(t *testing.T) (string, int) {
	t.Helper()
	arguments := slices.Concat(c.shell[1:], []string{
		"-c", c.script, "copy", "quay.io/me/provider:1", c.source, c.target,
		c.log,
	})
	command := exec.CommandContext(t.Context(), c.shell[0], arguments...)
	command.Env = []string{"PATH=" + c.bin}
	if os.Getuid() == 0 { // permissions do not apply to root
		user := &syscall.Credential{Uid: unprivileged, Gid: 0, NoSetGroups: true}
		command.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	}
	output, err := command.CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed {
		t.Fatal(err)
	}
	message, err := os.ReadFile(c.log)
	if err != nil {
		t.Fatal(err)
	}
	if failed && !bytes.HasSuffix(output, message) || failed != (len(message) > 0) {
		t.Errorf("the log of the container ends with %q, but the termination message is %q", output, message)
	}
	if !failed {
		return string(message), 0
	}
	return string(message), exit.ExitCode()
}

// copied returns the content of the target.
func (c *copying) copied(t *testing.T) packaged {
	t.Helper()
	result := packaged{}
	err := filepath.WalkDir(c.target, func(place string, entry os.DirEntry, err error) error {
		name, _ := filepath.Rel(c.target, place)
		switch {
		case err != nil || name == ".":
		case entry.IsDir():
			result[name] = nil
		case entry.Type()&os.ModeSymlink != 0:
			var link string
			link, err = os.Readlink(place)
			result[name] = linkTo + link
		default:
			var content []byte
			content, err = os.ReadFile(place)
			result[name] = string(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// copyScript returns the script of an init container that copies the package of an external provider.
func copyScript(t *testing.T) string {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	containers := renderedTemplate(t, render.Input{
		Stack: stack, Config: &render.Config{}, External: []render.ExternalProvider{{ID: "a", Image: "a"}},
	}).Spec.InitContainers
	return containers[0].Command[2]
}

// forEachImage runs a test with the shell and the programs of each kind of image.
func forEachImage(t *testing.T, files packaged, test func(t *testing.T, c *copying)) {
	t.Helper()
	for name, shell := range images(t) {
		t.Run(name, func(t *testing.T) { test(t, newCopying(t, name, shell, files)) })
	}
}

func succeeds(t *testing.T, c *copying, want packaged) {
	t.Helper()
	if message, code := c.run(t); code != 0 || message != "" {
		t.Fatalf("exit code %d, message %q", code, message)
	}
	if diff := cmp.Diff(want, c.copied(t)); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}
}

func fails(t *testing.T, c *copying, want string) {
	t.Helper()
	want = strings.NewReplacer("SOURCE", c.source, "IMAGE", "image quay.io/me/provider:1").Replace(want)
	message, code := c.run(t)
	if code != 1 || !strings.HasPrefix(message, want) || strings.Count(message, "\n") != 1 {
		t.Errorf("exit code %d, message %q, want %q", code, message, want)
	}
}

// The kubelet can run an init container twice. The second run removes the files of the first run, even where the image
// makes them read-only.
func TestCopyTwice(t *testing.T) {
	files := plain.with(packaged{"closed": nil, "closed/below": nil, "closed/below/file": "x", "link": linkTo + "closed"})
	forEachImage(t, files, func(t *testing.T, c *copying) {
		chmod(t, filepath.Join(c.source, "closed", "below", "file"), 0o444)
		chmod(t, filepath.Join(c.source, "closed", "below"), 0o555)
		chmod(t, filepath.Join(c.source, "closed"), 0o555)
		succeeds(t, c, files)
		want := maps.Clone(files)
		for _, name := range []string{".hidden", "..odd", "link"} {
			if err := os.Remove(filepath.Join(c.source, name)); err != nil {
				t.Fatal(err)
			}
			delete(want, name)
		}
		succeeds(t, c, want)
		for _, place := range []string{"closed", filepath.Join("closed", "below")} {
			info, err := os.Stat(filepath.Join(c.target, place))
			if err != nil || info.Mode().Perm() != 0o777 {
				t.Errorf("another user cannot remove %s, because its mode is %v; error %v", place, info.Mode(), err)
			}
		}
	})
}

// An interrupted run does not affect the next run.
func TestCopyAfterAnInterruptedRun(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		half := filepath.Join(c.target, "packages")
		mkdir(t, half)
		write(t, filepath.Join(half, "half.whl"), "half")
		write(t, filepath.Join(c.target, "away"), linkTo+c.source)
		if os.Getuid() == 0 {
			for _, place := range []string{half, filepath.Join(half, "half.whl")} {
				if err := os.Chown(place, unprivileged, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		chmod(t, half, 0o555)
		succeeds(t, c, plain)
		if _, err := os.Stat(filepath.Join(c.source, metadata)); err != nil {
			t.Errorf("the link was followed: %v", err)
		}
	})
}

// Links are copied as links, wherever they point, so that nothing outside the package is read or written.
func TestCopyLinks(t *testing.T) {
	files := plain.with(packaged{
		"out": linkTo + "/etc", "up": linkTo + "../../secret", "dangling": linkTo + "nowhere",
		"packages/inner": linkTo + "..",
		"loop":           linkTo + "loop", "secret": linkTo + "/etc/shadow",
	})
	forEachImage(t, files, func(t *testing.T, c *copying) {
		outside := c.log + "-outside"
		write(t, outside, "mine")
		chmod(t, outside, 0o600)
		if os.Getuid() == 0 {
			if err := os.Chown(outside, unprivileged, 0); err != nil {
				t.Fatal(err)
			}
		}
		files := maps.Clone(files)
		files["outside"] = linkTo + outside
		write(t, filepath.Join(c.source, "outside"), files["outside"])
		succeeds(t, c, files)
		succeeds(t, c, files)
		if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the link was followed: error %v, mode %v", err, info.Mode())
		}
	})
}

// A link to the directory of the package works like the directory.
func TestCopyOfALinkToThePackage(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		if err := os.Symlink(c.source, c.source+"-link"); err != nil {
			t.Fatal(err)
		}
		c.source += "-link"
		succeeds(t, c, plain)
	})
}

func TestCopyWithoutMetadata(t *testing.T) {
	for name, files := range map[string]packaged{
		"no package":                          nil,
		"an empty package":                    {},
		"only wheels":                         {"packages": nil},
		"a directory instead of the metadata": {metadata: nil},
		"a dangling link":                     {metadata: linkTo + "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			forEachImage(t, files, func(t *testing.T, c *copying) {
				fails(t, c, "Missing SOURCE/lls-provider-spec.yaml in IMAGE\n")
			})
		})
	}
}

func TestCopyOfUnreadableFiles(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		for _, place := range []string{filepath.Join("packages", "a b.whl"), "packages"} {
			info, err := os.Stat(filepath.Join(c.source, place))
			if err != nil {
				t.Fatal(err)
			}
			chmod(t, filepath.Join(c.source, place), 0)
			message, code := c.run(t)
			if code != 1 || !strings.HasPrefix(message, "Cannot copy "+c.source+" from image quay.io/me/provider:1: ") ||
				!strings.Contains(message, place) || !strings.Contains(message, "Permission denied") {
				t.Errorf("exit code %d, message %q, want one that names %s", code, message, place)
			}
			chmod(t, filepath.Join(c.source, place), info.Mode())
		}
		chmod(t, c.source, 0o700)
		if os.Getuid() == 0 {
			fails(t, c, "Cannot read SOURCE in IMAGE: make it readable by every user\n")
		}
		chmod(t, c.source, 0o755)
		succeeds(t, c, plain)
	})
}

func TestCopyOfALargePackage(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		c.hasPrograms(t)
		c.replace(t, "du", `printf '%s\t%s\n' 2097153 "$2"`)
		fails(t, c, "SOURCE in IMAGE has 2097153 KiB, but the limit is 2097152 KiB: ")
		if copied := c.copied(t); len(copied) > 0 {
			t.Errorf("copied %v", copied)
		}
		c.replace(t, "du", `printf '%s\t%s\n' 2097152 "$2"`)
		succeeds(t, c, plain)
		c.replace(t, "du", "echo oops; exit 1")
		fails(t, c, "Cannot measure SOURCE in IMAGE: du gives no size\n")
		c.replace(t, "du", "echo oops >&2; exit 1")
		fails(t, c, "Cannot measure SOURCE in IMAGE: oops\n")
	})
}

// The script does not copy a sparse file that is too large, because the copy can need as much space on the node as the
// full size of the file.
func TestCopyOfAFileWithHoles(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		if err := os.Truncate(filepath.Join(c.source, metadata), 3<<30); err != nil {
			t.Fatal(err)
		}
		c.script = strings.Replace(c.script, "ulimit -f 4194304", "ulimit -f 64", 1)
		fails(t, c, "Cannot copy SOURCE from IMAGE: a file is larger than 2 GiB\n")
	})
}

func TestCopyThatDoesNotEnd(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		c.hasPrograms(t)
		c.script = strings.Replace(c.script, "'timeout 300'", "'timeout 1'", 1)
		c.replace(t, "cp", "exec sleep 60")
		fails(t, c, "Cannot copy SOURCE from IMAGE within 300 seconds\n")
	})
}

// A warning from cp about a successful copy is not reported as a failure.
func TestCopyWithAWarning(t *testing.T) {
	forEachImage(t, plain, func(t *testing.T, c *copying) {
		c.hasPrograms(t)
		c.replace(t, "cp", `echo "no attributes here" >&2`)
		succeeds(t, c, packaged{})
	})
}

// The script copies the package even if the image has no timeout program, or has an old version of it with a different
// syntax.
func TestCopyWithoutATimeLimit(t *testing.T) {
	for name, program := range map[string]string{
		"no program": "",
		"an old program": `[ "$1" = -t ] && { shift 2; exec "$@"; }
echo "timeout: can't execute '$1': No such file or directory" >&2
exit 127`,
	} {
		t.Run(name, func(t *testing.T) {
			forEachImage(t, plain, func(t *testing.T, c *copying) {
				c.hasPrograms(t)
				c.replace(t, "timeout", program)
				succeeds(t, c, plain)
			})
		})
	}
}

// The script does not contain $$, because Kubernetes replaces $$ in a command.
func TestCopyScriptIsNotExpanded(t *testing.T) {
	if strings.Contains(copyScript(t), "$$") {
		t.Error("the script contains $$, which Kubernetes replaces with $")
	}
}
