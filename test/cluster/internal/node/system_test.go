package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestReportPressure(t *testing.T) {
	for name, test := range map[string]struct {
		conditions string
		limit      time.Duration
		want       []string
	}{
		"disk": {
			"DiskPressure: kubelet has disk pressure\nReady: kubelet is posting ready status\n", time.Minute,
			[]string{"no pod starts on node node-1, which has DiskPressure: kubelet has disk pressure"},
		},
		"ready": {"Ready: kubelet does not report Pressure\n", time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "kubectl")
			if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '"+test.conditions+"'\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), test.limit)
			defer stop()
			var got []string
			kubectl{program: program}.reportPressure(ctx, func(line string) { got = append(got, line) })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
