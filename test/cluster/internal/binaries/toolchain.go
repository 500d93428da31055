package binaries

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// toolchain is the Go installation that builds a set.
type toolchain struct {
	version, os, arch string
}

// findToolchain returns the toolchain that the go command uses in the set's module. go.mod may require a newer version
// than that of the installed go command.
func findToolchain(ctx context.Context, s Set) (toolchain, error) {
	out, err := goCommand(ctx, s, nil, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return toolchain{}, fmt.Errorf("reading the version of Go: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 3 {
		return toolchain{}, fmt.Errorf("reading the version of Go: unexpected output %q", out)
	}
	return toolchain{version: fields[0], os: fields[1], arch: fields[2]}, nil
}

// fetchModules downloads only the modules that the programs need, and returns the packages that they consist of.
func fetchModules(ctx context.Context, s Set, programs []Program) ([]string, error) {
	out, err := goCommand(ctx, s, nil, append([]string{"list", "-deps"}, packages(programs)...)...)
	if err != nil {
		return nil, fmt.Errorf("downloading the modules of %s: %w", s.Title, err)
	}
	return strings.Fields(string(out)), nil
}

// build compiles programs with one command, so that the linker of one program does not delay the compiler of the next,
// and writes the binaries to `folder`.
func build(ctx context.Context, s Set, programs []Program, folder string, m *meter) error {
	args := append([]string{
		"build", "-v", "-trimpath", "-buildvcs=false", "-tags", s.Tags,
		"-ldflags", s.LinkerFlags, "-o", folder + string(filepath.Separator),
	}, packages(programs)...)
	if _, err := goCommand(ctx, s, m, args...); err != nil {
		return fmt.Errorf("building %s of %s: %w", names(programs), s.Title, err)
	}
	for _, program := range programs {
		err := os.Rename(filepath.Join(folder, program.executable()), filepath.Join(folder, program.Name))
		if err != nil {
			return fmt.Errorf("naming %s of %s: %w", program.Name, s.Title, err)
		}
	}
	return nil
}

// goCommand runs the go command in the set's module and returns its standard output. The command inherits the user's
// proxy and cache settings, but not the settings that would change the build. A meter reads the names of compiled
// packages.
func goCommand(ctx context.Context, s Set, m *meter, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = s.Module
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=",
		"GOGC=400") // the compiler needs a sixth less processor time, and more memory
	var stdout bytes.Buffer
	if m == nil {
		m = newMeter(io.Discard, nil)
	}
	command.Stdout, command.Stderr = &stdout, m
	if err := command.Run(); ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted: %w; run the command again to continue where it stopped", ctx.Err())
	} else if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, m.said())
	}
	return stdout.Bytes(), nil
}

// lastLines returns the last lines of a string, which may be long.
func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
