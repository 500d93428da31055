package realserver

import "testing"

// TestDigestOfData checks that the reasons and the tests of corrections do not change the digest of a line's data.
func TestDigestOfData(t *testing.T) {
	const overlay = "corrections:\n- of: runtime\n  set: {token: true}\n  reason: one\n  test: TestOne\n"
	read := func(text string) string {
		t.Helper()
		found, err := withoutReasons([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(found)
	}
	for text, same := range map[string]bool{
		"corrections:\n- of: runtime\n  set: {token: true} # a comment\n  reason: two\n  test: TestTwo\n": true,
		"corrections:\n- of: runtime\n  set: {token: false}\n  reason: one\n  test: TestOne\n":            false,
	} {
		if got := read(text) == read(overlay); got != same {
			t.Errorf("%q has the same digest: %t, want %t", text, got, same)
		}
	}
}
