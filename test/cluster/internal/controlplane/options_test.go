package controlplane

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestParseWith(t *testing.T) {
	both := []string{ControllerManager, Scheduler}
	for _, test := range []struct {
		text    string
		want    []string
		failure string
	}{
		{text: ""},
		{text: " , "},
		{text: "scheduler", want: []string{Scheduler}},
		{text: "controller-manager,scheduler", want: both},
		{text: "scheduler, controller-manager", want: both},
		{text: "scheduler,scheduler", want: []string{Scheduler}},
		{text: "kubelet", failure: `unknown component "kubelet": use controller-manager, scheduler, both or neither`},
		{text: "scheduler,Scheduler", failure: `"Scheduler"`},
	} {
		got, err := ParseWith(test.text)
		if test.failure != "" {
			if err == nil || !strings.Contains(err.Error(), test.failure) {
				t.Errorf("ParseWith(%q): got error %v, want %q", test.text, err, test.failure)
			}
			continue
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("ParseWith(%q) = %q, %v; want %q", test.text, got, err, test.want)
		}
	}
}

// TestEveryOptionShows checks that String returns every option. `up` uses this string to compare options, and would
// ignore an option that the string does not contain.
func TestEveryOptionShows(t *testing.T) {
	texts := map[string]bool{}
	all := []Options{
		{},
		{Programs: "/p"},
		{Port: 6443},
		{With: []string{Scheduler}},
		{AuditLog: true},
		{Node: []string{"/n"}},
	}
	for _, o := range all {
		texts[o.String()] = true
	}
	if len(texts) != len(all) {
		t.Errorf("%d different options result in only %d texts: %v", len(all), len(texts), texts)
	}
}

func TestWantedPort(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("unexpected address %v", listener.Addr())
	}
	port := address.Port
	if _, err := choosePorts(t.Context(), port); err == nil || !strings.Contains(err.Error(), strconv.Itoa(port)) {
		t.Errorf("a port in use: got %v, want an error naming it", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := choosePorts(t.Context(), port)
	if err != nil || p.apiServer != port {
		t.Errorf("choosePorts(%d) = %+v, %v", port, p, err)
	}
}
