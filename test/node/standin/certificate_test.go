package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func certificateFiles(t *testing.T) (certificate, key string) {
	t.Helper()
	folder := t.TempDir()
	certificate, key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	certificatePEM, keyPEM := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	for path, content := range map[string][]byte{certificate: certificatePEM, key: keyPEM} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}
