package verdict

import (
	"slices"
	"testing"
)

// standIn is the state of a test case.
type standIn struct {
	name            string
	failed, skipped bool
	cleanups        []func()
}

func (*standIn) Helper()              {}
func (s *standIn) Name() string       { return s.name }
func (s *standIn) Failed() bool       { return s.failed }
func (s *standIn) Skipped() bool      { return s.skipped }
func (s *standIn) Cleanup(run func()) { s.cleanups = append(s.cleanups, run) }
func (*standIn) Logf(string, ...any)  {}
func (s *standIn) Errorf(string, ...any) {
	s.failed = true
}

// ran runs a case, and reports whether it was not proven before. The parameter `during` changes the state of the case.
func ran(t *testing.T, fixed, name string, during func(s *standIn), parts ...any) bool {
	t.Helper()
	ran, s, result := false, &standIn{name: name}, ""
	c, err := open(t, "a", fixed).Case(s, parts...)
	if err != nil {
		t.Fatal(err)
	}
	c.Once(s, &result, func() {
		ran, result = true, "result"
		during(s)
	})
	for _, cleanup := range slices.Backward(s.cleanups) {
		cleanup()
	}
	if result != "result" {
		t.Errorf("the result is %q", result)
	}
	return ran
}

func passes(*standIn) {}

// TestOnce shows that a case runs again after each part of its key changes, and only then.
func TestOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	type pod struct{ Env []string }
	for _, tc := range []struct {
		fixed, name string
		parts       []any
	}{
		{"fixed", "Test/a", nil},
		{"other", "Test/a", nil},
		{"fixed", "Test/b", nil},
		{"fixed", "Test/a", []any{"interpreter"}},
		{"fixed", "Test/a", []any{"interpreter", pod{Env: []string{"A=1"}}}},
		{"fixed", "Test/a", []any{"interpreter", pod{Env: []string{"A=2"}}}},
	} {
		if !ran(t, tc.fixed, tc.name, passes, tc.parts...) {
			t.Errorf("%+v: the case did not run", tc)
		}
		if ran(t, tc.fixed, tc.name, passes, tc.parts...) {
			t.Errorf("%+v: the case ran again", tc)
		}
	}
}

// TestOnceFailed shows that only a case that passes is kept.
func TestOnceFailed(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, during := range map[string]func(s *standIn){
		"fails":         func(s *standIn) { s.failed = true },
		"fails at last": func(s *standIn) { s.Cleanup(func() { s.failed = true }) },
		"is skipped":    func(s *standIn) { s.skipped = true },
	} {
		if !ran(t, "fixed", name, during) || !ran(t, "fixed", name, passes) {
			t.Errorf("a case that %s was kept", name)
		}
	}
}
