package manager

import (
	"encoding/json"
	"fmt"
	stdlog "log"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The output of net/http becomes a line with structured fields in the operator's log.
func TestStandardLog(t *testing.T) {
	for name, tc := range map[string]struct {
		line  string
		level zapcore.Level
		want  map[string]any
	}{
		"a handshake": {
			"http: TLS handshake error from [2001:db8::1]:5: remote error: tls: bad certificate", zapcore.DebugLevel,
			map[string]any{
				"level": "debug", "msg": "A TLS handshake failed", "client": "[2001:db8::1]:5",
				"error": "remote error: tls: bad certificate",
			},
		},
		"a handshake at info level": {"http: TLS handshake error from 192.0.2.1:5: EOF", zapcore.InfoLevel, nil},
		"a panic": {
			"http: panic serving 192.0.2.1:5: oh\ngoroutine 1 [running]:", zapcore.InfoLevel,
			map[string]any{"level": "error", "msg": "A request ended in a panic", "panic": "http: panic serving 192.0.2.1:5: oh\ngoroutine 1 [running]:"},
		},
		"something else": {
			"http: Accept error: " + strings.Repeat("x", 2*maxLine), zapcore.InfoLevel,
			map[string]any{
				"level": "info", "msg": "A library logged a message",
				"message": "http: Accept error: " + strings.Repeat("x", maxLine-23) + "…",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			output := &testutil.Log{}
			logger := zap.New(zap.WriteTo(output), zap.JSONEncoder(), zap.Level(tc.level),
				zap.StacktraceLevel(zapcore.PanicLevel))
			stdlog.New(newStandardLog(logger), "", 0).Print(tc.line)
			var got map[string]any
			if text := output.String(); text != "" {
				if err := json.Unmarshal([]byte(text), &got); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				delete(got, "ts")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
		})
	}
}

// A client that keeps opening connections does not fill the log. The log reports how many lines were omitted.
func TestStandardLogIsBounded(t *testing.T) {
	output := &testutil.Log{}
	log := newStandardLog(zap.New(zap.WriteTo(output), zap.JSONEncoder(), zap.Level(zapcore.DebugLevel)))
	limit := log.limited.GetSink().(*limitedSink).limit
	limit.SetLimit(0) // no time passes
	knock := func(times int) {
		for i := range times {
			if _, err := fmt.Fprintf(log, "http: TLS handshake error from 192.0.2.1:%d: EOF\n", i); err != nil {
				t.Fatal(err)
			}
			log.limited.WithName("a").WithValues("b", "c").Error(nil, "another line")
		}
	}
	knock(500)
	if got := strings.Count(output.String(), "\n"); got != linesAtOnce {
		t.Errorf("%d lines of 1000, want %d", got, linesAtOnce)
	}
	limit.SetLimit(1e9)
	knock(1)
	if want := fmt.Sprintf(`"notLogged":%d`, 1000-linesAtOnce); !strings.Contains(output.String(), want) {
		t.Errorf("the log does not contain %s", want)
	}
}
