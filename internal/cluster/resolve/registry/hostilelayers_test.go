package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// archive returns a tar file with the given entries and an end-of-archive marker.
func archive(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var written bytes.Buffer
	writer := tar.NewWriter(&written)
	for _, header := range headers {
		content := strings.Repeat("x", int(header.Size))
		if header.Name == "config.yaml" && header.Typeflag == tar.TypeReg {
			content = config
		}
		header.Size, header.Mode = int64(len(content)), 0o644
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return written.Bytes()
}

// rawHeader returns a tar header with arbitrary fields.
func rawHeader(name string, kind byte, size string) []byte {
	header := make([]byte, 512)
	copy(header, name)
	copy(header[100:], "0000644\x000000000\x000000000\x00")
	copy(header[124:], size)
	copy(header[136:], "00000000000\x00        ")
	header[156] = kind
	copy(header[257:], "ustar\x0000")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return header
}

func gzipped(t testing.TB, content io.Reader) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(writer, content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func zstandard(t testing.TB, content io.Reader, options ...zstd.EOption) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer, err := zstd.NewWriter(&packed, options...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(writer, content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// pax returns a header whose extended attributes have the given size.
func pax(size int) []byte {
	record := fmt.Sprintf("%d comment=%s\n", size, strings.Repeat("x", size-len(fmt.Sprintf("%d comment=\n", size))))
	content := append(rawHeader("pax", 'x', fmt.Sprintf("%011o\x00", len(record))), record...)
	return append(content, make([]byte, (512-len(content)%512)%512)...)
}

// hostileLayers returns layers that have the right digest.
func hostileLayers(t *testing.T) []hostileAnswer {
	t.Helper()
	const file = "config.yaml"
	plain := archive(t, tar.Header{Name: file, Typeflag: tar.TypeReg})
	other := archive(t, tar.Header{Name: "other.yaml", Typeflag: tar.TypeReg, Size: 10})
	of := func(layer []byte) func(*forged) { return func(f *forged) { f.layered(file, layer) } }
	// bomb returns a layer with more bytes before the file than a read accepts. It compresses each part separately,
	// because both gzip and zstd allow concatenated parts.
	bomb := func(pack func(io.Reader) []byte) []byte {
		packed := pack(bytes.NewReader(rawHeader("padding", '0', fmt.Sprintf("%011o\x00", maxUnpacked+1<<20))))
		packed = append(packed, bytes.Repeat(pack(io.LimitReader(zeros{}, 1<<20)), maxUnpacked>>20+1)...)
		return append(packed, pack(bytes.NewReader(plain))...)
	}
	window := io.MultiReader(bytes.NewReader(rawHeader("padding", '0', fmt.Sprintf("%011o\x00", 32<<20))),
		io.LimitReader(zeros{}, 32<<20), bytes.NewReader(plain))
	return []hostileAnswer{
		{name: "a layer without the file", rule: stays, does: of(other)},
		{name: "an empty layer", rule: stays, does: of(nil)},
		{name: "a layer that is not an archive", rule: stays, does: of([]byte(strings.Repeat("config.yaml", 100)))},
		{name: "a layer that ends inside its file", rule: stays, does: of(plain[:520])},
		{name: "a layer that ends inside a header", rule: stays, does: of(plain[:300])},
		{name: "a layer without an end marker", rule: fine, does: of(plain[:1024])},
		{name: "a link", rule: stays, does: of(archive(t, tar.Header{Name: file, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}))},
		{name: "a hard link", rule: stays, does: of(archive(t, tar.Header{Name: file, Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}))},
		{
			name: "a character device", rule: stays,
			does: of(archive(t, tar.Header{Name: file, Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5})),
		},
		{
			name: "a block device", rule: stays,
			does: of(archive(t, tar.Header{Name: file, Typeflag: tar.TypeBlock, Devmajor: 8})),
		},
		{name: "a pipe", rule: stays, does: of(archive(t, tar.Header{Name: file, Typeflag: tar.TypeFifo}))},
		{name: "a directory", rule: stays, does: of(archive(t, tar.Header{Name: file + "/", Typeflag: tar.TypeDir}))},
		{name: "a file that is listed twice", rule: fine, does: of(append(bytes.Clone(plain[:1024]), archive(t, tar.Header{Name: file, Typeflag: tar.TypeSymlink, Linkname: "x"})...))},
		{name: "a path with dots in the archive", rule: fine, does: of(append(rawHeader("a/../../config.yaml", '0', fmt.Sprintf("%011o\x00", len(config))), plain[512:]...))},
		{name: "a file that is too large", rule: stays, does: of(append(rawHeader(file, '0', fmt.Sprintf("%011o\x00", maxConfig+1)), make([]byte, 1024)...))},
		{name: "a file with an absurd size", rule: stays, does: of(append(rawHeader(file, '0', "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff"), make([]byte, 1024)...))},
		{name: "a file with a negative size", rule: stays, does: of(append(rawHeader(file, '0', "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), make([]byte, 1024)...))},
		{name: "a header with a wrong checksum", rule: stays, does: of(append([]byte("x"), plain...))},
		{name: "a header of 2 MB", rule: stays, does: of(append(pax(2<<20), plain...))},
		{
			name: "many headers of 1 MB", rule: stays,
			does: of(bytes.Repeat(gzipped(t, bytes.NewReader(append(pax(900<<10), other[:1024]...))), 300)),
		},
		{name: "a name of 2 MB", rule: stays, does: of(append(append(rawHeader("long", 'L', fmt.Sprintf("%011o\x00", 2<<20)), bytes.Repeat([]byte("x"), 2<<20)...), plain...))},
		{name: "a sparse file of 8 GB", rule: stays, does: of(gnuSparse(file, 8<<30))},
		{name: "a sparse file with an endless map", rule: stays, does: of(append(rawHeader(file, 'S', "00000000000\x00"), bytes.Repeat([]byte("\xff"), 4096)...))},
		{name: "too many files", rule: stays, does: of(bytes.Repeat(gzipped(t, bytes.NewReader(bytes.Repeat(rawHeader("entry", '0', "00000000000\x00"), 1000))), maxEntries/1000))},

		{name: "gzip that is only a header", rule: stays, does: of([]byte{0x1f, 0x8b, 8, 0})},
		{name: "incomplete gzip", rule: stays, does: of(gzipped(t, bytes.NewReader(other))[:40])},
		{name: "gzip with a wrong checksum", rule: stays, does: of(flipped(gzipped(t, bytes.NewReader(other)), 8))},
		{name: "gzip with garbage after its end", rule: stays, does: of(append(gzipped(t, bytes.NewReader(other[:1024])), "garbage"...))},
		{name: "gzip with garbage after the file", rule: fine, does: of(append(gzipped(t, bytes.NewReader(plain)), "garbage"...))},
		{name: "gzip in gzip", rule: stays, does: of(gzipped(t, bytes.NewReader(gzipped(t, bytes.NewReader(plain)))))},
		{name: "a gzip bomb", rule: stays, does: of(bomb(func(part io.Reader) []byte { return gzipped(t, part) }))},
		{name: "zstd", rule: fine, does: of(zstandard(t, bytes.NewReader(plain)))},
		{name: "incomplete zstd", rule: stays, does: of(zstandard(t, bytes.NewReader(other))[:20])},
		{name: "zstd with a wrong checksum", rule: stays, does: of(flipped(zstandard(t, bytes.NewReader(other)), 1))},
		{name: "zstd with a large window", rule: stays, does: of(zstandard(t, window, zstd.WithWindowSize(2*maxWindow)))},
		{name: "a zstd bomb", rule: stays, does: of(bomb(func(part io.Reader) []byte { return zstandard(t, part) }))},
		{name: "xz", rule: stays, does: of([]byte("\xfd7zXZ\x00\x00\x04" + strings.Repeat("x", 600)))},
	}
}

// flipped returns the content with one bit changed, at an offset from the end.
func flipped(content []byte, before int) []byte {
	content = bytes.Clone(content)
	content[len(content)-before] ^= 1
	return content
}

// gnuSparse returns a file that consists of one hole, in the form of PAX headers.
func gnuSparse(name string, size int) []byte {
	var records string
	for _, pair := range []string{
		"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name,
		fmt.Sprintf("GNU.sparse.realsize=%d", size),
	} {
		length := len(pair) + 2
		for len(fmt.Sprint(length))+len(pair)+2 != length {
			length = len(fmt.Sprint(length)) + len(pair) + 2
		}
		records += fmt.Sprintf("%d %s\n", length, pair)
	}
	content := append(rawHeader("pax", 'x', fmt.Sprintf("%011o\x00", len(records))), records...)
	content = append(content, make([]byte, 512-len(records)%512)...)
	content = append(content, rawHeader("GNUSparseFile.0/"+name, '0', "00000001000\x00")...)
	return append(append(content, fmt.Appendf(nil, "1\n%d\n0\n", size)...), make([]byte, 2048)...)
}
