package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// address is the local address. Only programs on this machine can connect to it.
const address = "127.0.0.1"

// Session is a connection between a local port and a pod's port.
type Session struct {
	// Port is the local port.
	Port uint16
	// Done is closed when the session has ended.
	Done <-chan struct{}
	// SPDY reports whether the connection uses SPDY. That is the case if the API server does not support WebSockets, or
	// if the connection uses an HTTPS proxy.
	SPDY bool

	stop context.CancelFunc
	err  error
}

// Close ends the session.
func (s *Session) Close() {
	s.stop()
	<-s.Done
}

// Open forwards a local port to a port of a pod until ctx ends or the caller closes the session. The local port 0 means
// any free port. If the API server responds with status 401, 403 or 404, Open returns the corresponding API error.
func Open(ctx context.Context, config *rest.Config, pod *corev1.Pod, local uint16, remote int32) (*Session, error) {
	dialer, err := dialerTo(config, pod)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	ready := make(chan struct{})
	var problems bytes.Buffer
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{address},
		[]string{fmt.Sprintf("%d:%d", local, remote)}, ready, io.Discard, &problems)
	if err != nil {
		stop()
		return nil, fmt.Errorf("forward a port: %w", err)
	}
	session := &Session{stop: stop}
	if !session.begin(forwarder, ready) {
		stop()
		return nil, session.failure(dialer, problems.String())
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		session.Close()
		return nil, fmt.Errorf("forward a port: %w", err)
	}
	session.Port, session.SPDY = ports[0].Local, dialer.fellBack
	return session, nil
}

// begin starts forwarding ports. It returns false if the forwarding ends before it is ready.
func (s *Session) begin(forwarder *portforward.PortForwarder, ready <-chan struct{}) bool {
	done := make(chan struct{})
	s.Done = done
	go func() {
		defer close(done)
		s.err = forwarder.ForwardPorts()
	}()
	select {
	case <-ready:
		return true
	case <-done:
		return false
	}
}

// failure returns the reason why no connection was established.
func (s *Session) failure(dialer *dialer, problems string) error {
	problems = strings.TrimSpace(problems)
	switch {
	case dialer.err != nil:
		return dialer.answer.explain(dialer.err)
	case problems != "":
		return errors.New(strings.ToLower(problems[:1]) + problems[1:] + "; use another local port")
	case s.err != nil:
		return s.err
	default:
		return errors.New("the connection to the pod could not be established; run the command again")
	}
}

// dialer opens a connection over a WebSocket. It uses SPDY if the API server does not upgrade the request to a
// WebSocket, or if the connection uses an HTTPS proxy. It records the error, because a PortForwarder returns errors
// only as text.
type dialer struct {
	webSocket, spdy httpstream.Dialer
	answer          *answer
	fellBack        bool
	err             error
}

// Dial opens the connection.
func (d *dialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	connection, protocol, err := d.webSocket.Dial(protocols...)
	if httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) {
		d.fellBack = true
		connection, protocol, err = d.spdy.Dial(protocols...)
	}
	d.err = err
	return connection, protocol, err
}

// dialerTo returns a dialer for connections that forward a pod's ports.
func dialerTo(config *rest.Config, pod *corev1.Pod) (*dialer, error) {
	at, err := urlOf(config, pod)
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, fmt.Errorf("forward a port: %w", err)
	}
	last := &answer{RoundTripper: transport, pod: pod.Name}
	older := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: last}, http.MethodPost, at)
	newer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(at, config)
	if err != nil {
		return nil, fmt.Errorf("forward a port: %w", err)
	}
	return &dialer{answer: last, webSocket: newer, spdy: older}, nil
}

// answer records the status code of the API server's response, because the library returns it only as text.
type answer struct {
	http.RoundTripper
	pod  string
	code int
}

// RoundTrip sends a request, and records the status code of the response.
func (a *answer) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(request)
	if err == nil {
		a.code = response.StatusCode
	}
	return response, err
}

// explain converts an error to the API error type that corresponds to the recorded status code. It returns the error
// unchanged for codes other than 401, 403 and 404.
func (a *answer) explain(err error) error {
	resource := schema.GroupResource{Resource: "pods/portforward"}
	switch a.code {
	case http.StatusForbidden:
		return apierrors.NewForbidden(resource, a.pod, err)
	case http.StatusUnauthorized:
		return apierrors.NewUnauthorized(err.Error())
	case http.StatusNotFound:
		return apierrors.NewNotFound(resource, a.pod)
	default:
		return err
	}
}

// urlOf returns the URL of the portforward subresource of a pod.
func urlOf(config *rest.Config, pod *corev1.Pod) (*url.URL, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return core.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).
		SubResource("portforward").URL(), nil
}
