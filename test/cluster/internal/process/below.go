package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// killPasses is how often there is a look for what was started while others were killed.
const killPasses = 3

// KillBelow kills every process that descends from this one, at once and
// without a word, and leaves this one alone. What a descendant started
// meanwhile is killed as well.
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

// readParents maps the id of every process to that of its parent.
func readParents() (map[int]int, error) {
	pids, err := list()
	if err != nil {
		return nil, err
	}
	parents := map[int]int{}
	for _, pid := range pids {
		if now, err := readStat(pid); err == nil { // it may have ended
			parents[pid] = now.parent
		}
	}
	return parents, nil
}

// list gives the ids of all processes.
func list() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil { // else it is no process
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// below lists the descendants of a process, by their ids.
func below(parents map[int]int, root int) []int {
	var found []int
	for pid := range parents {
		// No line is longer than there are processes: one that was read while it changed may run in a circle.
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
