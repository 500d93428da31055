package scale_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// operator is a running operator with a token for the shipped ServiceAccount.
type operator struct {
	process *exec.Cmd
	metrics string
}

// startOperator runs the operator with the memory limit of the shipped Deployment in $GOMEMLIMIT. Leader election and
// the webhooks are disabled, and the operator serves metrics over plain HTTP.
func (c *cluster) startOperator(b *testing.B) *operator {
	b.Helper()
	folder := b.TempDir()
	token, err := c.Plane.OperatorToken(b.Context(), nil)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600)
	}
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err == nil {
		err = testutil.WriteKubeconfig(kubeconfig, c.Plane.Config.Host, c.Plane.Config.CAData, filepath.Join(folder, "token"))
	}
	testutil.Must(b, err)
	log, err := os.Create(filepath.Join(folder, "log"))
	testutil.Must(b, err)
	defer log.Close()
	o := &operator{metrics: testutil.FreeAddress(b)}
	o.process = exec.Command(c.program, "--kubeconfig="+kubeconfig, "--operator-namespace="+names.OperatorNamespace,
		"--leader-elect=false", "--metrics-secure=false", "--metrics-bind-address="+o.metrics,
		"--webhook-bind-address=0", "--health-probe-bind-address=127.0.0.1:0")
	o.process.Stdout, o.process.Stderr = log, log
	o.process.Env = []string{"HOME=" + folder, "GOMEMLIMIT=340MiB"}
	o.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testutil.Must(b, o.process.Start())
	b.Cleanup(func() {
		o.stop(b)
		if b.Failed() {
			said, _ := os.ReadFile(log.Name())
			b.Logf("log of the operator:\n%s", said)
		}
	})
	return o
}

func (o *operator) stop(b *testing.B) {
	b.Helper()
	if o.process.ProcessState != nil {
		return
	}
	if err := o.process.Process.Kill(); err != nil {
		b.Error(err)
	}
	_ = o.process.Wait() // the error only reports that the process was killed
}

// signal sends a signal that pauses the operator or lets it continue.
func (o *operator) signal(b *testing.B, signal syscall.Signal) {
	b.Helper()
	testutil.Must(b, o.process.Process.Signal(signal))
}

// uncompressed is a client without compression, because compression would affect the measurement.
var uncompressed = &http.Client{Transport: &http.Transport{DisableCompression: true}}

// observes waits until the operator has reconciled this number of stacks and its queue is empty.
func (o *operator) observes(b *testing.B, want int) {
	b.Helper()
	eventually(b, scrape, "every stack is observed", func() (bool, error) {
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+o.metrics+"/metrics", http.NoBody)
		if err != nil {
			return false, err
		}
		response, err := uncompressed.Do(request)
		if err != nil {
			return false, nil
		}
		defer response.Body.Close()
		stacks, waiting := 0.0, 0.0
		scanner := bufio.NewScanner(response.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			stacks += value(scanner.Text(), "llama_stack_operator_stacks{")
			waiting += value(scanner.Text(), `workqueue_depth{controller="llamastackdistribution"`)
		}
		return int(stacks) == want && waiting == 0, nil
	})
}

// value returns the value in a line with this metric, and zero for any other line.
func value(line, metric string) float64 {
	if !strings.HasPrefix(line, metric) {
		return 0
	}
	number, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
	if err != nil {
		return 0
	}
	return number
}

func (o *operator) file(b *testing.B, name string) []byte {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", o.process.Process.Pid, name))
	testutil.Must(b, err)
	return data
}

// returnsMemory waits until an idle operator has returned memory to the system.
func (o *operator) returnsMemory(b *testing.B) {
	b.Helper()
	since := time.Now()
	eventually(b, poll, "the program returns memory to the system", func() (bool, error) { return time.Since(since) > 2*quiet, nil })
}

// resident returns the operator's current memory usage in MiB, and most returns its maximum memory usage.
func (o *operator) resident(b *testing.B) float64 { return o.memory(b, "VmRSS:") }
func (o *operator) most(b *testing.B) float64     { return o.memory(b, "VmHWM:") }

func (o *operator) memory(b *testing.B, what string) float64 {
	b.Helper()
	for line := range bytes.Lines(o.file(b, "status")) {
		if fields := strings.Fields(string(line)); len(fields) > 1 && fields[0] == what {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			testutil.Must(b, err)
			return kilobytes / 1024
		}
	}
	b.Fatalf("no %s", what)
	return 0
}

// cpu returns the processor time that the operator has used.
func (o *operator) cpu(b *testing.B) time.Duration {
	b.Helper()
	const ticks = 100 // per second, on every Linux system that Go supports
	stat := string(o.file(b, "stat"))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	total := 0
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(field)
		testutil.Must(b, err)
		total += n
	}
	return time.Duration(total) * time.Second / ticks
}
