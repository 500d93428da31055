package process

import (
	"bufio"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestBelow(t *testing.T) {
	for _, test := range []struct {
		name    string
		parents map[int]int
		want    []int
	}{
		{name: "nothing"},
		{name: "itself and its parents are not below it", parents: map[int]int{1: 0, 2: 1, 7: 2}},
		{name: "children and their children", parents: map[int]int{1: 0, 7: 1, 20: 7, 9: 20, 8: 7}, want: []int{8, 9, 20}},
		{name: "others", parents: map[int]int{1: 0, 7: 1, 8: 1, 9: 8}},
		{name: "a parent that has ended", parents: map[int]int{1: 0, 7: 1, 9: 5}},
		{name: "a cycle without the process", parents: map[int]int{1: 0, 7: 1, 9: 10, 10: 9, 11: 7}, want: []int{11}},
		{name: "a cycle that contains the process", parents: map[int]int{7: 9, 9: 7}, want: []int{9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := below(test.parents, 7); !slices.Equal(got, test.want) {
				t.Errorf("below 7: %v, want %v", got, test.want)
			}
		})
	}
}

// KillBelow ends a shell's children, and the shell continues.
func TestKillBelow(t *testing.T) {
	command := exec.CommandContext(t.Context(), "sh", "-c", "(sleep 60 & echo $!; wait) & wait; read end")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	sleep, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	child, err := Identify(sleep)
	if err != nil {
		t.Fatal(err)
	}
	shell, err := Identify(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.KillBelow(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !shell.Alive() {
		t.Error("the shell ended too")
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // the command read ends with an error at the end of its input
	if err := shell.KillBelow(); err == nil {
		t.Error("killed below a process that has ended")
	}
}
