package ogxserver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// lowestPort is the lowest port that the operator accepts.
const lowestPort = 1024

// network converts the settings for access to the server.
func (c *conversion) network() {
	c.went(path("spec.network"), path("spec.networking"))
	if port, ok := c.number("spec.network.port"); ok && port != 0 && port < lowestPort {
		c.leaveOut("spec.network.port", fmt.Sprintf("%d is below %d, "+
			"the lowest port that a stack can use: the server listens on 8321; "+
			"use port 8321 in your clients", port, lowestPort))
	} else {
		c.move("spec.network.port", "spec.networking.port")
	}
	c.serverTLS()
	c.expose()
	c.policy()
}

// serverTLS enables HTTPS in the server. An OGXServer can request HTTPS, but the ogx-k8s-operator ignores the request.
func (c *conversion) serverTLS() {
	if c.get("spec.network.tls.secretName") == nil {
		return
	}
	c.put(true, "spec", "networking", "tls", "enabled")
	c.move("spec.network.tls.secretName", "spec.networking.tls.secretName")
	c.differs("The server serves HTTPS with this certificate, and clients must use https://. "+
		"The ogx-k8s-operator accepts spec.network.tls.secretName in an OGXServer, but ignores this field.", "spec", "networking", "tls", "secretName")
}

// expose exposes the server outside the cluster.
func (c *conversion) expose() {
	if c.get("spec.network.externalAccess") == nil {
		return
	}
	enabled, _ := c.get("spec.network.externalAccess.enabled").(bool)
	place := []string{"spec", "networking", "expose"}
	c.went(path("spec.network.externalAccess"), place)
	if c.text("spec.network.externalAccess.hostname") == "" {
		c.put(enabled, place...)
	} else {
		c.put(enabled, append(place, "enabled")...)
		c.move("spec.network.externalAccess.hostname", "spec.networking.expose.hostname")
	}
	if enabled {
		c.differs("Even if the spec of an OGXServer sets hostname, its Ingress has no host name and "+
			"accepts requests for all host names. The Ingress of this stack has one host name: the "+
			"value of hostname, or a generated name. status.routeURL shows this name.", place...)
	}
}

// trust converts the certificate authorities that the server trusts in outgoing calls.
func (c *conversion) trust() {
	certificates, _ := c.get("spec.tls.trust.caCertificates").([]any)
	name := ""
	var keys []any
	for i, value := range certificates {
		from := []string{"spec", "tls", "trust", "caCertificates", strconv.Itoa(i)}
		entry, _ := value.(map[string]any)
		of, _ := entry["name"].(string)
		if name = cmp.Or(name, of); of != name {
			c.leaveOut(fieldPath(from), fmt.Sprintf("a stack uses certificates from only one ConfigMap, and this "+
				"stack uses %[1]q: copy the key %[2]q from the ConfigMap %[3]q to the ConfigMap %[1]q, "+
				"and add the key to spec.networking.tls.caBundle.configMapKeys", name, entry["key"], of))
			continue
		}
		to := append(path("spec.networking.tls.caBundle.configMapKeys"), strconv.Itoa(len(keys)))
		c.went(from, to)
		c.went(append(slices.Clone(from), "name"), path("spec.networking.tls.caBundle.configMapName"))
		c.went(append(slices.Clone(from), "key"), to)
		keys = append(keys, entry["key"])
	}
	if len(keys) > 0 {
		c.put(name, "spec", "networking", "tls", "caBundle", "configMapName")
		c.put(keys, "spec", "networking", "tls", "caBundle", "configMapKeys")
		c.went(path("spec.tls.trust"), path("spec.networking.tls.caBundle"))
	}
}

// identity reports that a stack has no field for the client certificate that a server presents in outgoing calls.
func (c *conversion) identity() {
	if c.get("spec.tls.identity") != nil {
		c.leaveOut("spec.tls.identity", "the ogx-k8s-operator ignores this field, and a stack has no field for a "+
			"client certificate: mount the certificate and the key with spec.workload.overrides.volumes and volumeMounts, "+
			"and set the files in the provider's settings.network.tls (client_cert, client_key)")
	}
}
