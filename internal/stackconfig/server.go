package stackconfig

import (
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// server sets how the server listens. Releases up to 1.0 take the port from the
// release's variable, which the Deployment sets; the key is written all the same
// so that the file tells the truth. Without a host some releases bind IPv6 only.
func server(d *draft) {
	s := d.section(d.root, "server", d.releaseDefault())
	d.write(under(s, "port"), yamlnode.Int(int64(d.in.Server.Port)), from(d.in.Server.PortPath))
	if host := d.rel.Runtime.Host; host != "" && yamlnode.Text(s, "host") == "" {
		d.write(under(s, "host"), yamlnode.String(host), d.releaseDefault())
	}
	if d.in.Server.Workers > 0 {
		d.workers()
	}
	d.tls(s)
	if d.rel.Runtime.PlainHTTPRefused && !servesTLS(d.root) {
		d.write(under(s, "insecure"), yamlnode.Bool(true), d.releaseDefault())
	}
	d.name()
}

func (d *draft) workers() {
	if _, known := d.rel.Server.Key("workers"); !known {
		d.ignored(d.in.Server.WorkersPath, "the server release %s runs one process only", d.rel.Line)
		return
	}
	d.write(under(yamlnode.Get(d.root, "server"), "workers"), yamlnode.Int(int64(d.in.Server.Workers)), from(d.in.Server.WorkersPath))
}

// tls names the files of the mounted Secret (FR-061).
func (d *draft) tls(server *yaml.Node) {
	if tls := d.in.Server.TLS; tls != nil {
		d.write(under(server, keyCertificate), yamlnode.String(names.TLSDir+"/"+names.TLSCertificate), from(tls.Path))
		d.write(under(server, keyKey), yamlnode.String(names.TLSDir+"/"+names.TLSKey), from(tls.Path))
	}
}

// The two keys that make the server speak HTTPS, and nothing else on its port.
const (
	keyCertificate = "tls_certfile"
	keyKey         = "tls_keyfile"
)

func servesTLS(root *yaml.Node) bool {
	server := yamlnode.Get(root, "server")
	return yamlnode.Text(server, keyCertificate) != "" && yamlnode.Text(server, keyKey) != ""
}

// ServesTLS says whether a server with this configuration speaks HTTPS; not when
// nobody can read it.
func ServesTLS(config []byte) bool {
	root, err := baseconfig.Read(config)
	return err == nil && servesTLS(root)
}

// name supplies the distribution's name, without which the server does not start.
func (d *draft) name() {
	if yamlnode.Text(d.root, "distro_name") != "" || yamlnode.Text(d.root, "image_name") != "" {
		return
	}
	if key := d.rel.Runtime.DistributionKey; key != "" {
		d.write(under(d.root, key), yamlnode.String(d.distribution), d.releaseDefault())
	}
}
