package nodeinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// kubeletRoot is the kubelet's default directory. It is hard-coded in the kubelet's plugin paths, so no flag changes
// these paths.
const kubeletRoot = "/var/lib/kubelet"

// covered lists the directories of the machine that the node must not use. They contain the sockets, network namespaces
// and locks of other programs, and the state of a kubelet that runs on the machine.
var covered = []string{"/run", "/var/lib", "/var/log"}

// mountAll mounts the node's own file systems at the paths where the node would otherwise read or change the machine's
// files.
func mountAll(setup Setup) error {
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE); err != nil {
		return err
	}
	if err := mount("proc", "/proc", "proc", 0); err != nil {
		return err
	}
	if err := mountSys(); err != nil {
		return err
	}
	if err := cover(covered, append([]string{setup.Folder}, setup.Programs...)); err != nil {
		return err
	}
	for _, folder := range []string{"/run/netns", "/run/lock", kubeletRoot, filepath.Join(setup.State, "kubelet")} {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // other machines use the same mode
			return fmt.Errorf("preparing the node's folders: %w", err)
		}
	}
	if err := mount(filepath.Join(setup.State, "kubelet"), kubeletRoot, "", syscall.MS_BIND); err != nil {
		return err
	}
	if err := maskSysctls(filepath.Join(setup.State, "sysctl")); err != nil {
		return err
	}
	// The mounts of one pod must be visible to the other pods.
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED); err != nil {
		return err
	}
	return syscall.Sethostname([]byte(network.NodeName))
}

// mountSys mounts a /sys with the network devices of the node's namespace, and makes the machine's control groups
// visible again.
func mountSys() error {
	const groups = "/sys/fs/cgroup"
	held, err := os.Open(groups)
	if err != nil {
		return fmt.Errorf("opening the machine's control groups: %w", err)
	}
	defer held.Close()
	if err := mount("sysfs", "/sys", "sysfs", 0); err != nil {
		return err
	}
	return mount(descriptor(held), groups, "", syscall.MS_BIND|syscall.MS_REC)
}

// cover mounts an empty file system over each path in paths. If an empty file system hides a path in the parameter
// keep, cover bind-mounts the original directory at that path.
func cover(paths, keep []string) error {
	held := map[string]*os.File{} // the files remain open until the process ends
	for _, folder := range keep {
		file, err := os.Open(folder)
		if err != nil {
			return fmt.Errorf("opening a folder that the node needs: %w", err)
		}
		held[folder] = file
	}
	for _, path := range paths {
		if err := mount("tmpfs", path, "tmpfs", 0); err != nil {
			return err
		}
	}
	for folder, file := range held {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making a folder that the node needs: %w", err)
		}
		if err := mount(descriptor(file), folder, "", syscall.MS_BIND|syscall.MS_REC); err != nil {
			return err
		}
	}
	return nil
}

// sysctls lists the sysctls that the kubelet sets for the whole machine, with the values that the kubelet requires.
var sysctls = map[string]string{
	"kernel/keys/root_maxbytes": "25000000",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
}

// maskSysctls mounts files with the required values over the sysctls, so that the kubelet does not change the machine's
// values.
func maskSysctls(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("preparing the node's sysctls: %w", err)
	}
	for name, value := range sysctls {
		file := filepath.Join(folder, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return fmt.Errorf("preparing the node's sysctls: %w", err)
		}
		if err := mount(file, filepath.Join("/proc/sys", name), "", syscall.MS_BIND); err != nil {
			return err
		}
	}
	return nil
}

// descriptor returns a path to an open file. A mount cannot hide this path.
func descriptor(file *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", file.Fd()) }

func mount(source, target, kind string, flags uintptr) error {
	if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
		return fmt.Errorf("mounting %q on %q: %w", source+kind, target, err)
	}
	return nil
}
