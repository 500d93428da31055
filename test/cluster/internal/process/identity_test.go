package process

import (
	"os"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	const tail = " S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 128497 1000 2000"
	for _, test := range []struct {
		name, text string
		want       stat
		failure    string
	}{
		{name: "plain", text: "7 (etcd)" + tail, want: stat{state: 'S', parent: 3, start: 128497}},
		{
			name: "spaces and brackets in the name", text: "7 (a) S 1 (b c)" + tail,
			want: stat{state: 'S', parent: 3, start: 128497},
		},
		{name: "newline in the name", text: "7 (a\nb)" + tail, want: stat{state: 'S', parent: 3, start: 128497}},
		{
			name: "zombie", text: "7 (etcd)" + strings.Replace(tail, " S ", " Z ", 1),
			want: stat{state: 'Z', parent: 3, start: 128497},
		},
		{name: "empty", text: "", failure: "the process state contains no program name"},
		{name: "cut off", text: "7 (etcd) S 1 7", failure: "only 5 fields"},
		{name: "no parent", text: "7 (etcd)" + strings.Replace(tail, " 3 ", " nobody ", 1), failure: "parent"},
		{name: "no number", text: "7 (etcd)" + strings.Replace(tail, "128497", "soon", 1), failure: "start time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat(test.text)
			if test.failure != "" {
				if err == nil || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("got error %v, want %q", err, test.failure)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	self, err := Self()
	if err != nil || self.PID != os.Getpid() || self.Start == 0 || self.Boot == "" || !self.Alive() {
		t.Fatalf("Self() = %+v (%v), alive %t", self, err, self.Alive())
	}
	for name, change := range map[string]func(*Identity){
		"another start": func(i *Identity) { i.Start++ },
		"another boot":  func(i *Identity) { i.Boot = "00000000-0000-0000-0000-000000000000" },
		"no process":    func(i *Identity) { i.PID = 1 << 30 },
		"zero":          func(i *Identity) { *i = Identity{} },
		"negative":      func(i *Identity) { i.PID = -1 }, // with -1, kill(2) signals every process
	} {
		t.Run(name, func(t *testing.T) {
			other := self
			change(&other)
			if other.Alive() {
				t.Errorf("%+v is alive", other)
			}
		})
	}
}
