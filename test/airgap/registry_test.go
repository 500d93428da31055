//go:build airgap

package airgap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// user and password are the credentials that the private registry accepts.
const (
	user     = "mirror"
	password = "airgap-sesame-7"
)

// privateRegistry is a registry that requires a user and a password. Its certificate is signed by a private certificate
// authority.
type privateRegistry struct {
	// address is the host and the port of the registry, and authority is its certificate authority in PEM format.
	address, authority string

	mu     sync.Mutex
	served map[string]int // the number of requests with the correct password, by method
	denied int
}

func startPrivateRegistry(t *testing.T, host string) *privateRegistry {
	t.Helper()
	authority, certificate := issue(t, host)
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	testutil.Must(t, err)
	r := &privateRegistry{address: listener.Addr().String(), authority: authority, served: map[string]int{}}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)),
		registry.WithBlobHandler(registry.NewDiskBlobHandler(t.TempDir())))
	// The registry reads uploads one after the other. With HTTP/2, the waiting uploads would fill the flow-control window
	// of the connection.
	onlyHTTP1 := &http.Protocols{}
	onlyHTTP1.SetHTTP1(true)
	server := &http.Server{
		Protocols:         onlyHTTP1,
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.serve(w, q, inner) }),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ErrorLog:          log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Minute,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(listener, "", "")
	}()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	return r
}

func (r *privateRegistry) serve(w http.ResponseWriter, q *http.Request, inner http.Handler) {
	name, given, _ := q.BasicAuth()
	known := name == user && given == password
	r.mu.Lock()
	if known {
		r.served[q.Method]++
	} else {
		r.denied++
	}
	r.mu.Unlock()
	if !known {
		w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	inner.ServeHTTP(w, q)
}

// counts returns the number of write requests and the number of read requests with the correct password so far.
func (r *privateRegistry) counts() (writes, reads int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for method, count := range r.served {
		if method == http.MethodGet || method == http.MethodHead {
			reads += count
		} else {
			writes += count
		}
	}
	return writes, reads
}

// issue creates a certificate authority, and uses it to sign a certificate for an address.
func issue(t *testing.T, host string) (string, tls.Certificate) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		testutil.Must(t, err)
		return made
	}
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		}
	}
	authority, authorityKey := template("private authority"), key()
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	testutil.Must(t, err)
	leaf, leafKey := template(host), key()
	leaf.IPAddresses, leaf.ExtKeyUsage = []net.IP{net.ParseIP(host)}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, leafKey.Public(), authorityKey)
	testutil.Must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})),
		tls.Certificate{Certificate: [][]byte{der, root}, PrivateKey: leafKey}
}
