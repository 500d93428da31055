package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Identity identifies one process permanently. A process ID is not sufficient, because it can be reused after the
// process has ended, and after a restart of the machine.
type Identity struct {
	PID int `json:"pid"`
	// Start is the time at which the process started, in clock ticks since the machine started.
	Start uint64 `json:"start"`
	// Boot is the kernel's random boot ID.
	Boot string `json:"boot"`
}

// Identify returns the identity of the process that has the ID pid at the time of the call.
func Identify(pid int) (Identity, error) {
	boot, err := bootID()
	if err != nil {
		return Identity{}, err
	}
	stat, err := readStat(pid)
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, Start: stat.start, Boot: boot}, nil
}

// Alive reports whether the process is still running. It returns false for a zombie, which has ended and waits for its
// parent. If the state cannot be read, the process is treated as ended, so that it is not signaled.
func (i Identity) Alive() bool {
	now, err := i.look()
	return err == nil && now.state != 'Z' && now.state != 'X'
}

// look reads the state of the process, and returns an error if the process ID was reused.
func (i Identity) look() (stat, error) {
	boot, err := bootID()
	if err != nil {
		return stat{}, err
	}
	now, err := readStat(i.PID)
	if err != nil {
		return stat{}, err
	}
	if boot != i.Boot || now.start != i.Start {
		return stat{}, fmt.Errorf("another process now has the process ID %d", i.PID)
	}
	return now, nil
}

// stat is the relevant part of /proc/<pid>/stat.
type stat struct {
	state  byte
	parent int
	start  uint64
}

func readStat(pid int) (stat, error) {
	if pid <= 0 {
		return stat{}, fmt.Errorf("%d is not a process ID", pid)
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	return parseStat(string(data))
}

// parseStat parses the format of proc_pid_stat(5). The second field is the program's name in parentheses. The name can
// contain any character, so the other fields are counted from the closing parenthesis.
func parseStat(text string) (stat, error) {
	const startField = 22 // counted from 1, as in proc_pid_stat(5)
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return stat{}, errors.New("the process state contains no program name")
	}
	fields := strings.Fields(text[end+1:]) // fields[0] is field 3
	if len(fields) <= startField-3 {
		return stat{}, fmt.Errorf("the process state contains only %d fields", len(fields)+2)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, fmt.Errorf("reading a process's parent: %w", err)
	}
	start, err := strconv.ParseUint(fields[startField-3], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("reading a process's start time: %w", err)
	}
	return stat{state: fields[0][0], parent: parent, start: start}, nil
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no /proc/sys/kernel/random/boot_id: is /proc mounted?")
	}
	if err != nil {
		return "", fmt.Errorf("reading the machine's boot ID: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// Self returns the identity of this process.
func Self() (Identity, error) { return Identify(os.Getpid()) }
