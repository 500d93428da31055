package verdict

// TB is the part of testing.TB that Once uses.
type TB interface {
	Helper()
	Name() string
	Failed() bool
	Skipped() bool
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Case is a test case whose result may be kept.
type Case struct {
	store *Store
	key   string
}

// Case returns the case for a test. Its key contains the name of the test and the given parts.
func (s *Store) Case(t TB, parts ...any) (*Case, error) {
	key, err := s.Key(t.Name(), parts)
	return &Case{store: s, key: key}, err
}

// Passed reports whether the case passed before, and logs this. It reads the result of the case into the parameter.
func (c *Case) Passed(t TB, result any) bool {
	t.Helper()
	if !c.store.Load(c.key, result) {
		return false
	}
	c.Log(t)
	return true
}

// Log logs that the case passed before.
func (c *Case) Log(t TB) {
	t.Helper()
	t.Logf("proven before, under the key %.12s", c.key)
}

// Keep keeps the result of a case that passed. It keeps nothing if the test failed or was skipped.
func (c *Case) Keep(t TB, result any) {
	t.Helper()
	if t.Failed() || t.Skipped() {
		return
	}
	if err := c.store.Save(c.key, result); err != nil {
		t.Errorf("%v", err)
	}
}

// Once runs the case, unless it passed before. The function `run` sets the result. The case must not have subtests,
// because a flag of the test run can omit them.
func (c *Case) Once(t TB, result any, run func()) {
	t.Helper()
	if c.Passed(t, result) {
		return
	}
	// The first registered function runs last, so it also sees the failures of the others.
	t.Cleanup(func() { c.Keep(t, result) })
	run()
}
