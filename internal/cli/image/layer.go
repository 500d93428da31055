package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// layerContent contains the tar archive of a layer, uncompressed and as gzip.
type layerContent struct{ plain, packed []byte }

// layerOf returns a layer with one file that contains a configuration. The gzip data contains the archive without
// compression, so that the digest of the gzip data does not depend on the compressor.
func layerOf(config []byte) layerContent {
	var plain, packed bytes.Buffer
	archive := tar.NewWriter(&plain)
	header := &tar.Header{
		Name: registry.LayerFile, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(config)),
		Format: tar.FormatUSTAR,
	}
	err := archive.WriteHeader(header)
	if err == nil {
		_, err = archive.Write(config)
	}
	err = errors.Join(err, archive.Close())
	compressor, levelErr := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if levelErr == nil {
		_, levelErr = compressor.Write(plain.Bytes())
		levelErr = errors.Join(levelErr, compressor.Close())
	}
	if err := errors.Join(err, levelErr); err != nil {
		panic(err) // a buffer accepts every write
	}
	return layerContent{plain.Bytes(), packed.Bytes()}
}

func digestOf(content []byte) v1.Hash {
	sum := sha256.Sum256(content)
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum[:])}
}
