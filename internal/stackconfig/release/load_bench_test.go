package release

import "testing"

// BenchmarkLoad shows what the first use of a line costs; the aim is a few milliseconds.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load("0.7"); err != nil {
			b.Fatal(err)
		}
	}
}
