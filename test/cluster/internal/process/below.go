package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// killPasses is the number of passes that KillBelow makes. One pass is not enough, because a process can start while
// KillBelow kills others.
const killPasses = 3

// KillBelow kills every descendant of the identified process with SIGKILL, but not the process itself. It makes several
// passes, to kill processes that a descendant starts in the meantime.
func (i Identity) KillBelow() error {
	for range killPasses {
		if _, err := i.look(); err != nil {
			return err
		}
		parents, err := readParents()
		if err != nil {
			return err
		}
		for _, pid := range below(parents, i.PID) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("killing process %d: %w", pid, err)
			}
		}
	}
	return nil
}

// readParents maps the ID of every process to the ID of its parent.
func readParents() (map[int]int, error) {
	pids, err := list()
	if err != nil {
		return nil, err
	}
	parents := map[int]int{}
	for _, pid := range pids {
		if now, err := readStat(pid); err == nil { // the process may have ended
			parents[pid] = now.parent
		}
	}
	return parents, nil
}

// list returns the IDs of all processes.
func list() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil { // other entries are not processes
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// below returns the IDs of the descendants of a process, sorted.
func below(parents map[int]int, root int) []int {
	var found []int
	for pid := range parents {
		// No chain of parents is longer than the number of processes. If the processes changed while readParents read them,
		// the table can contain a cycle, so the loop has a limit.
		for at, steps := parents[pid], 0; at > 0 && steps <= len(parents); at, steps = parents[at], steps+1 {
			if at == root && pid != root {
				found = append(found, pid)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}
