package stackconfig

import (
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// server writes the port, the host, the number of workers, the certificate, `server.insecure` and the distribution's
// name. Releases up to 1.0 read the port from a variable, which the Deployment sets (server fact 26). server writes
// `server.port` for these releases too, so that the file shows the actual port. It sets a missing host, because some
// releases would otherwise listen only on IPv6 (server fact 28).
func server(d *draft.Draft) {
	s := d.Section(d.Root, "server", d.ReleaseDefault())
	d.Write(draft.Under(s, "port"), yamlnode.Int(int64(d.Intent.Server.Port)), draft.From(d.Intent.Server.PortPath))
	if host := d.Release.Runtime.Host; host != "" && yamlnode.Text(s, "host") == "" {
		d.Write(draft.Under(s, "host"), yamlnode.String(host), d.ReleaseDefault())
	}
	if d.Intent.Server.Workers > 0 {
		workers(d)
	}
	certificate(d, s)
	if d.Release.Runtime.PlainHTTPRefused && !servesTLS(d.Root) {
		d.Write(draft.Under(s, "insecure"), yamlnode.Bool(true), d.ReleaseDefault())
	}
	nameDistribution(d)
}

func workers(d *draft.Draft) {
	if _, known := d.Release.Server.Key("workers"); !known {
		d.Ignoredf(d.Intent.Server.WorkersPath, "server release %s runs only one process; remove the field workers", d.Release.Line)
		return
	}
	d.Write(draft.Under(yamlnode.Get(d.Root, "server"), "workers"), yamlnode.Int(int64(d.Intent.Server.Workers)),
		draft.From(d.Intent.Server.WorkersPath))
}

// certificate sets the paths of the certificate and the key in the mounted Secret (FR-061).
func certificate(d *draft.Draft, server *yaml.Node) {
	if tls := d.Intent.Server.TLS; tls != nil {
		d.Write(draft.Under(server, keyCertificate), yamlnode.String(names.TLSDir+"/"+names.TLSCertificate),
			draft.From(tls.Path))
		d.Write(draft.Under(server, keyKey), yamlnode.String(names.TLSDir+"/"+names.TLSKey), draft.From(tls.Path))
	}
}

// With these two keys, the server serves only HTTPS on its port (server fact 30).
const (
	keyCertificate = "tls_certfile"
	keyKey         = "tls_keyfile"
)

func servesTLS(root *yaml.Node) bool {
	server := yamlnode.Get(root, "server")
	return yamlnode.Text(server, keyCertificate) != "" && yamlnode.Text(server, keyKey) != ""
}

// ServesTLS reports whether a server with this configuration serves HTTPS. It returns false for an invalid
// configuration.
func ServesTLS(config []byte) bool {
	root, err := baseconfig.Read(config)
	return err == nil && servesTLS(root)
}

// nameDistribution sets the distribution's name if the base does not set it, because the server does not start without
// a name (server fact 62).
func nameDistribution(d *draft.Draft) {
	if yamlnode.Text(d.Root, "distro_name") != "" || yamlnode.Text(d.Root, "image_name") != "" {
		return
	}
	if key := d.Release.Runtime.DistributionKey; key != "" {
		d.Write(draft.Under(d.Root, key), yamlnode.String(d.Distribution), d.ReleaseDefault())
	}
}
