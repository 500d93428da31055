package image

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// buildProgram builds a command of this module as a static binary, with the flags of a release. It returns the path of
// the binary, which is in the given directory.
func buildProgram(ctx context.Context, folder, command, version string) (string, error) {
	return buildProgramOf(ctx, worktree.Root(), folder, command, version)
}

// buildProgramOf does the same as buildProgram for another work tree.
func buildProgramOf(ctx context.Context, source, folder, command, version string) (string, error) {
	target := filepath.Join(folder, filepath.Base(command))
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -X main.version="+version, "-o", target,
		command)
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", command, err, output)
	}
	return target, nil
}

// programs returns programs from this machine, each in /bin, with the shared libraries that they need.
func programs(ctx context.Context, names ...string) ([]Entry, error) {
	var entries []Entry
	var files []string
	for _, name := range names {
		file, err := exec.LookPath(name)
		if err != nil {
			return nil, fmt.Errorf("find a program for the image: %w", err)
		}
		entries = append(entries, File{Source: file, Path: "/bin/" + name, Mode: 0o755})
		files = append(files, file)
	}
	shared, err := libraries(ctx, files)
	return append(entries, shared...), err
}

// dynamic lists the libraries that the C library opens by name at run time, from its own directory. The C library needs
// them to look up users and hosts, and to cancel threads.
var dynamic = []string{"libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2", "libgcc_s.so.1"}

// libraries returns the shared libraries on this machine that the given files need, and the libraries that the C
// library opens, at the same paths as on this machine. It omits libraries below the folders in the parameter `own`,
// because the image already contains them.
func libraries(ctx context.Context, files []string, own ...string) ([]Entry, error) {
	var output bytes.Buffer
	for chunk := range slices.Chunk(files, 200) {
		list := exec.CommandContext(ctx, "ldd", chunk...)
		list.Stdout = &output
		// ldd exits with code 1 if one of the files is not a dynamically linked binary. Its output about the other files is
		// still valid.
		if err := list.Run(); err != nil && list.ProcessState == nil {
			return nil, fmt.Errorf("list the shared libraries: %w", err)
		}
	}
	found := map[string]bool{}
	for lines := bufio.NewScanner(&output); lines.Scan(); {
		library := libraryIn(lines.Text())
		if library == "" || slices.ContainsFunc(own, func(folder string) bool { return strings.HasPrefix(library, folder+"/") }) {
			continue
		}
		found[library] = true
		if filepath.Base(library) != "libc.so.6" {
			continue
		}
		for _, name := range dynamic {
			beside := filepath.Join(filepath.Dir(library), name)
			if _, err := os.Stat(beside); err == nil {
				found[beside] = true
			}
		}
	}
	var entries []Entry
	for _, library := range slices.Sorted(maps.Keys(found)) {
		entries = append(entries, File{Source: library, Path: library, Mode: 0o755})
	}
	return entries, nil
}

// libraryIn returns the path in a line of ldd output: "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", or, for the
// loader, "/lib64/ld-linux-x86-64.so.2 (0x…)". It returns an empty string for any other line.
func libraryIn(line string) string {
	path, _, found := strings.Cut(line, " (0x")
	if !found {
		return ""
	}
	if _, after, arrow := strings.Cut(path, " => "); arrow {
		path = after
	}
	path = strings.TrimSpace(path)
	if !strings.HasPrefix(path, "/") {
		return ""
	}
	return path
}
