package registry

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
)

func digestOfBytes(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// hostileNetwork serves the hosts in example.com with one server, which has separate TLS settings for each host.
type hostileNetwork struct {
	trusted *x509.CertPool
	hosts   map[string]*tls.Config // nil means plain text
}

// inBubble is a time within a synctest bubble, which starts on 2000-01-01.
var inBubble = time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)

func newHostileNetwork(t *testing.T) *hostileNetwork {
	t.Helper()
	known, unknown := newAuthority(t), newAuthority(t)
	trusted := x509.NewCertPool()
	trusted.AddCert(known.certificate)
	serves := func(a *authority, from, to int, names ...string) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{a.issue(t, inBubble.AddDate(from, 0, 0), inBubble.AddDate(to, 0, 0), names...)},
			MinVersion:   tls.VersionTLS12,
		}
	}
	all := serves(known, -1, 1, "*.example.com")
	http2 := all.Clone()
	http2.NextProtos = []string{"h2"}
	old := all.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	return &hostileNetwork{trusted: trusted, hosts: map[string]*tls.Config{
		hostileHost: all, "elsewhere.example.com": all, "plain.example.com": nil,
		"othername.example.com": serves(known, -1, 1, "registry.example.com"),
		"expired.example.com":   serves(known, -2, -1, "*.example.com"),
		"early.example.com":     serves(known, 1, 2, "*.example.com"),
		"unknown.example.com":   serves(unknown, -1, 1, "*.example.com"),
		"http2.example.com":     http2, "old.example.com": old,
	}}
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	own := &authority{certificate: &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}}
	content := own.sign(t, own.certificate, inBubble.AddDate(-9, 0, 0), inBubble.AddDate(9, 0, 0))
	var err error
	if own.certificate, err = x509.ParseCertificate(content.Certificate[0]); err != nil {
		t.Fatal(err)
	}
	own.key = content.PrivateKey.(*ecdsa.PrivateKey)
	return own
}

func (a *authority) issue(t *testing.T, from, to time.Time, names ...string) tls.Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{DNSNames: names}, from, to)
}

func (a *authority) sign(t *testing.T, template *x509.Certificate, from, to time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	template.SerialNumber, template.Subject = big.NewInt(1), pkix.Name{CommonName: "test"}
	template.NotBefore, template.NotAfter = from, to
	content, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: key}
}

// serve restricts a reader to the hosts in the network. The handler serves these hosts.
func (n *hostileNetwork) serve(t *testing.T, reader *Reader, handler http.Handler) {
	t.Helper()
	pipes := &inMemory{pipes: make(chan net.Conn)}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Hour, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(pipes)
	}()
	transport := reader.through.secure.(*http.Transport)
	transport.Proxy = nil
	transport.TLSClientConfig = &tls.Config{RootCAs: n.trusted, MinVersion: tls.VersionTLS12}
	transport.DialContext = func(ctx context.Context, network, target string) (net.Conn, error) {
		host, _, _ := strings.Cut(target, ":")
		settings, ok := n.hosts[host]
		switch {
		case host == "local.example.com":
			return nil, &net.OpError{Op: "dial", Net: network, Err: address.CheckDialed(ctx, network, "127.0.0.1:443", nil)}
		case host == "down.example.com":
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		case host == "lookup.example.com":
			return nil, &net.OpError{
				Op: "dial", Net: network,
				Err: &net.DNSError{Name: forbidden, Server: forbidden, IsTemporary: true},
			}
		case !ok:
			return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Name: forbidden, IsNotFound: true}}
		}
		client, accepted := bufferedPipe()
		if settings != nil {
			accepted = tls.Server(accepted, settings)
		}
		select {
		case pipes.pipes <- accepted:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	t.Cleanup(func() {
		reader.Close()
		_ = server.Close()
		<-ended
		pass(2 * lingering)
		synctest.Wait()
	})
}
