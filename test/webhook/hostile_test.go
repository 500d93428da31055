package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// hostileFor is how long clients attack the webhook port.
	hostileFor = 10 * time.Second
	// waitedFor is the time limit for a conversion during an attack.
	waitedFor = 10 * time.Second
	// hostileMemory is the limit for the operator's memory during an attack, in KiB. It leaves half of the container's
	// memory for stacks.
	hostileMemory = memoryLimit / 2
)

// BenchmarkHostile attacks the webhook port of an operator without credentials, and reports the longest conversion of
// another client and the operator's maximum memory usage.
func BenchmarkHostile(b *testing.B) {
	zeros := strings.Repeat("0,", 3_400_000) + "0"
	review := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",` +
		`"request":{"uid":"u","operation":"CREATE","object":` +
		`{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","metadata":{"name":"a","namespace":"v"},` +
		`"spec":{"distribution":{"name":"starter"},"settings":{"a":[%s]}}}}}`
	for _, attack := range []struct {
		name               string
		clients            int
		path, header, body string
	}{
		{"4 reviews of 7 MB", 4, names.ValidationPath, "", fmt.Sprintf(review, zeros)},
		{"16 reviews of 4 MB", 16, names.ValidationPath, "", fmt.Sprintf(review, zeros[:4_000_001])},
		{"60 silent clients", 60, names.ConversionPath, "Content-Length: 1000000", ""},
		{"1000 silent clients", 1000, names.ConversionPath, "Content-Length: 1000000", ""},
		{
			"10 slow bodies of unknown size", 10, names.ConversionPath, "Transfer-Encoding: chunked",
			"20000\r\n" + strings.Repeat(" ", 0x20000),
		},
		{"60 slow large objects", 60, names.ConversionPath, "Content-Length: 8000000", strings.Repeat(" ", 2<<20)},
		{"600 connections without a handshake", 600, "", "", ""},
	} {
		b.Run(attack.name, func(b *testing.B) {
			c := startCluster(b)
			c.Install(b)
			o := c.StartOperator(b)
			testutil.Within(b, patience, o.Ready)
			before := peak(b, o)
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), hostileFor)
				var group errgroup.Group
				for range attack.clients {
					group.Go(func() error {
						for ctx.Err() == nil {
							request(ctx, o, attack.path, attack.header, attack.body)
						}
						return nil
					})
				}
				longest := longestConversion(ctx, b, o)
				cancel()
				_ = group.Wait()
				b.ReportMetric(longest.Seconds(), "s-longest")
				b.ReportMetric(float64(before>>10), "MiB-before")
				b.ReportMetric(float64(peak(b, o)>>10), "MiB-peak")
				if most := peak(b, o); most > hostileMemory {
					b.Errorf("the operator used %d MiB", most>>10)
				}
				if longest > waitedFor {
					b.Errorf("a conversion took %v", longest)
				}
			}
		})
	}
}

// request sends a request over a connection of its own, and reads until the operator closes the connection.
func request(ctx context.Context, o *operator, path, header, body string) {
	address := fmt.Sprintf("127.0.0.1:%d", o.Port)
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	open := dialer.DialContext
	if path == "" {
		open = (&net.Dialer{}).DialContext // the client never begins the handshake
	}
	connection, err := open(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	if path != "" {
		if header == "" {
			header = fmt.Sprintf("Connection: close\r\nContent-Length: %d", len(body))
		}
		_, _ = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n\r\n%s",
			path, header, body)
	}
	_, _ = io.Copy(io.Discard, bufio.NewReader(connection))
}

// longestConversion converts a small and a large stack again and again, and returns the longest time.
func longestConversion(ctx context.Context, b *testing.B, o *operator) time.Duration {
	b.Helper()
	var longest time.Duration
	calls := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	small := `{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution","metadata":{"name":"a"}}`
	large, err := json.Marshal(largeStack(0))
	testutil.Must(b, err)
	for ctx.Err() == nil {
		for _, object := range [][]byte{[]byte(small), large} {
			body, size := review(object, 1)
			request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost,
				fmt.Sprintf("https://127.0.0.1:%d%s", o.Port, names.ConversionPath), body)
			testutil.Must(b, err)
			request.ContentLength = size
			request.Header.Set("Content-Type", "application/json")
			began := time.Now()
			read, err := readAll(calls, request)
			if err != nil || read < int64(len(object)) {
				b.Errorf("a conversion of %d bytes: %d bytes, %v", len(object), read, err)
			}
			longest = max(longest, time.Since(began))
		}
		<-time.After(50 * time.Millisecond)
	}
	return longest
}
