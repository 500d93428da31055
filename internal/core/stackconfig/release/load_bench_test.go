package release

import (
	"runtime"
	"testing"
)

// maxResident limits the memory for the data of all lines. There is no test for the time limit of 50 ms for all lines,
// because its result would depend on the machine. See BenchmarkLoadAll.
const maxResident = 8 << 20

// BenchmarkLoadAll measures the first use of every line, as in LinesWith. The targets are 50 ms, and 8 MiB of resident
// memory.
func BenchmarkLoadAll(b *testing.B) {
	before := heap()
	var all []*Release
	for b.Loop() {
		all = loadAll(b)
	}
	b.ReportMetric(float64(heap()-before), "resident-B")
	runtime.KeepAlive(all)
}

// TestResident checks the memory for the data of all lines, including the text that is embedded in the binary.
func TestResident(t *testing.T) {
	text := int64(len(packed))
	files()
	before := heap()
	all := loadAll(t)
	built := heap() - before
	runtime.KeepAlive(all)
	t.Logf("%d lines: %d KiB built, %d KiB of text", len(all), built>>10, text>>10)
	if built+text > maxResident {
		t.Errorf("the data of all lines holds %d bytes, and %d of text: more than %d", built, text, maxResident)
	}
}

func loadAll(t testing.TB) []*Release {
	t.Helper()
	all := make([]*Release, 0, len(files().Lines))
	for _, line := range files().Lines {
		r, err := load(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// heap returns the memory in use after a garbage collection.
func heap() int64 {
	// The second collection frees objects with a finalizer.
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
