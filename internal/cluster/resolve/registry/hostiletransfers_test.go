package registry

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	toManifest = "/manifests/1"
	toBlob     = "/blobs/"
	toPing     = "/v2/"
	toToken    = "/token"
)

// forges changes the content that is sent, but not its digest.
func forges(change func([]byte) []byte) func(*forged) {
	return func(f *forged) {
		f.on(toBlob, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(change(bytes.Clone(f.content[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]])))
		})
	}
}

// redirectsTo redirects requests for a path.
func redirectsTo(path, location string) func(*forged) {
	return func(f *forged) {
		f.on(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location+"?signature="+forbidden)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
	}
}

// loop redirects requests for a path to the same path.
func loop(path string) func(*forged) {
	return func(f *forged) {
		f.on(path, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		})
	}
}

// endless responds to requests for a path, and sends bytes until the client stops reading.
func endless(path string, status int) func(*forged) {
	return func(f *forged) {
		f.on(path, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			some := bytes.Repeat([]byte("{},"), 1<<18)
			for r.Context().Err() == nil {
				if _, err := w.Write(some); err != nil {
					return
				}
			}
		})
	}
}

// slowly sends one byte a second.
func slowly(path string) func(*forged) {
	return func(f *forged) {
		f.on(path, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, "{")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
		})
	}
}

func silent(path string) func(*forged) {
	return func(f *forged) {
		f.on(path, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	}
}

// raw writes bytes to the connection and closes it.
func raw(path, content string) func(*forged) {
	return func(f *forged) {
		f.on(path, func(w http.ResponseWriter, _ *http.Request) {
			connection, buffer, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = buffer.WriteString(content)
			_ = buffer.Flush()
			_ = connection.Close()
		})
	}
}

// header adds a header to each response about a repository.
func header(name, value string) func(*forged) {
	return func(f *forged) {
		answer := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			(&forged{tag: f.tag, content: f.content}).ServeHTTP(w, r)
		}
		f.on("/v2/team", answer)
	}
}

func both(first, second func(*forged)) func(*forged) {
	return func(f *forged) {
		first(f)
		second(f)
	}
}

func nothing(*forged) {}

// hostileTransfers returns redirects, bodies, connections, and content that does not match its digest.
func hostileTransfers() []hostileAnswer {
	return append([]hostileAnswer{
		{name: "a flipped last byte", rule: again, does: forges(func(b []byte) []byte { return flipped(b, 1) })},
		{name: "another configuration of the same length", rule: again, does: forges(func(b []byte) []byte { return bytes.Repeat([]byte(" "), len(b)) })},
		{name: "a blob that is shorter", rule: again, does: forges(func(b []byte) []byte { return b[:len(b)-1] })},
		{name: "a blob that is longer", rule: again, does: forges(func(b []byte) []byte { return append(b, ' ') })},
		{name: "an empty blob", rule: again, does: forges(func([]byte) []byte { return nil })},
		{name: "a flipped last byte of a layer", rule: again, does: both(
			func(f *forged) { f.layered("config.yaml", append(bytes.Repeat([]byte("config.yaml"), 100), '1')) },
			forges(func(b []byte) []byte {
				if bytes.HasPrefix(b, []byte("{")) {
					return b
				}
				return flipped(b, 1)
			}))},
		{name: "a different manifest than the requested one", rule: again, pinned: true, does: func(f *forged) {
			f.on("/manifests/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"manifests":[]}`) })
		}},
		{name: "other content that claims to be the signed manifest", rule: again, pinned: true, does: func(f *forged) {
			f.on("/manifests/", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v1+prettyjws")
				w.Header().Set("Docker-Content-Digest", digestOfBytes(f.tag))
				fmt.Fprint(w, `{"manifests":[]}`)
			})
		}},
		{name: "a layer with an address of its own", rule: refused, does: func(f *forged) {
			layer := []byte("not in the registry")
			f.image(labels(map[string]string{LabelLayer: digestOfBytes(layer), LabelPath: "config.yaml"}), layer)
			f.tag = bytes.Replace(f.tag, []byte(`}]`), []byte(`,"urls":["https://elsewhere.example.com/other"]}]`), 1)
			delete(f.content, digestOfBytes(layer))
			f.on("/other", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(layer) })
		}},
		{name: "another image of an index", rule: again, does: both(indexed(`{"os":"linux","architecture":"amd64"}`),
			func(f *forged) {
				f.on("/manifests/sha256:", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"manifests":[]}`) })
			})},
		{
			name: "a different digest in the header", rule: fine,
			does: header("Docker-Content-Digest", digestOfBytes([]byte("another"))),
		},
		{name: "an invalid digest in the header", rule: fine, does: header("Docker-Content-Digest", forbidden)},
		{name: "a media type that is not for manifests", rule: fine, does: header("Content-Type", "text/html; "+forbidden)},
		{name: "a content encoding that the body does not have", rule: fine, does: header("Content-Encoding", "gzip")},

		{name: "a loop of redirects for the manifest", rule: again, does: loop(toManifest)},
		{name: "a loop of redirects for a blob", rule: again, does: loop(toBlob)},
		{name: "a loop of redirects at the start", rule: again, does: loop(toPing)},
		{name: "a redirect to plain HTTP", rule: stays, does: redirectsTo(toBlob, "http://elsewhere.example.com/")},
		{name: "a redirect to FTP", rule: stays, does: redirectsTo(toBlob, "ftp://elsewhere.example.com/")},
		{name: "a redirect to a file", rule: stays, does: redirectsTo(toBlob, "file:///etc/passwd")},
		{name: "a redirect to this machine", rule: stays, does: redirectsTo(toBlob, "https://127.0.0.1/")},
		{name: "a redirect to this machine, by IPv6", rule: stays, does: redirectsTo(toBlob, "https://[::ffff:127.0.0.1]/")},
		{name: "a redirect to this machine, as one number", rule: stays, does: redirectsTo(toBlob, "https://2130706433/")},
		{name: "a redirect to this machine, by name", rule: stays, does: redirectsTo(toBlob, "https://local.example.com/")},
		{name: "a redirect to the metadata service of a cloud", rule: stays, does: redirectsTo(toManifest, "https://169.254.169.254/latest/"+forbidden)},
		{name: "a redirect to an unknown host", rule: again, does: redirectsTo(toBlob, "https://none.invalid/")},
		{name: "a redirect to an invalid address", rule: again, does: redirectsTo(toBlob, "https://%zz/")},
		{name: "a redirect without an address", rule: again, does: func(f *forged) {
			f.on(toBlob, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
		}},
		{name: "a redirect to other content", rule: again, does: both(redirectsTo(toBlob, "https://elsewhere.example.com/other"), func(f *forged) {
			f.on("/other", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, forbidden) })
		})},
	}, hostileBodies()...)
}

func hostileBodies() []hostileAnswer {
	return []hostileAnswer{
		{name: "an endless manifest", rule: stays, does: endless(toManifest, http.StatusOK)},
		{name: "an endless blob", rule: again, does: endless(toBlob, http.StatusOK)},
		{name: "an endless failure", rule: again, does: endless(toBlob, http.StatusInternalServerError)},
		{name: "an endless answer at the start", rule: fine, does: endless(toPing, http.StatusOK)},
		{name: "a manifest at one byte per second", rule: again, does: slowly(toManifest)},
		{name: "a blob at one byte per second", rule: again, does: slowly(toBlob)},
		{name: "a failure at one byte per second", rule: again, does: func(f *forged) {
			f.on(toManifest, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				slow := &forged{}
				slowly(r.URL.Path)(slow)
				slow.ServeHTTP(w, r)
			})
		}},
		{name: "no answer at the start", rule: again, does: silent(toPing)},
		{name: "no answer for the manifest", rule: again, does: silent(toManifest)},
		{name: "a length that is too long", rule: again, does: raw(toManifest, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}")},
		{name: "a length that is too short", rule: again, does: raw(toManifest, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}")},
		{name: "a length that is not a number", rule: again, does: raw(toManifest,
			"HTTP/1.1 200 OK\r\nContent-Length: "+forbidden+"\r\n\r\n{}")},
		{name: "invalid chunks", rule: again, does: raw(toManifest, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+forbidden+"\r\n")},
		{name: "a connection that ends before the answer", rule: again, does: raw(toManifest, "")},
		{name: "a connection that ends in the header", rule: again, does: raw(toManifest, "HTTP/1.1 200 OK\r\nContent-")},
		{name: "a connection that ends in the body", rule: again, does: raw(toBlob, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")},
		{name: "a header of a megabyte", rule: again, does: raw(toManifest,
			"HTTP/1.1 200 OK\r\nX: "+strings.Repeat(forbidden, 200_000)+"\r\n\r\n{}")},
		{name: "the banner of another protocol", rule: again, does: raw(toManifest, "220 "+forbidden+" ready\r\n")},
		{name: "a stream that is reset", rule: again, host: "http2.example.com", does: func(f *forged) {
			f.on(toManifest, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}},
		{name: "a stream that is reset in its body", rule: again, host: "http2.example.com", does: func(f *forged) {
			f.on(toManifest, func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "{")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
		}},
		{name: "a certificate of another host", rule: again, host: "othername.example.com", does: nothing},
		{name: "a certificate that has expired", rule: again, host: "expired.example.com", does: nothing},
		{name: "a certificate that is not valid yet", rule: again, host: "early.example.com", does: nothing},
		{name: "a certificate of an unknown authority", rule: again, host: "unknown.example.com", does: nothing},
		{name: "TLS 1.0", rule: again, host: "old.example.com", does: nothing},
		{name: "no TLS", rule: again, host: "plain.example.com", does: nothing},
		{name: "a host that refuses connections", rule: again, host: "down.example.com", does: nothing},
		{name: "a host that cannot be looked up", rule: again, host: "lookup.example.com", does: nothing},
		{name: "an unknown host", rule: again, host: "none.example.com", does: nothing},
		{name: "a host with a local address", rule: stays, host: "local.example.com", does: nothing},
	}
}
