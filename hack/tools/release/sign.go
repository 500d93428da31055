package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	ociempty "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/cosign/v3/pkg/oci/empty"
	"github.com/sigstore/cosign/v3/pkg/oci/mutate"
	"github.com/sigstore/cosign/v3/pkg/oci/static"
	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	sigstore "github.com/sigstore/sigstore-go/pkg/sign"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

// suffix ends the name of a signature of a file.
const suffix = ".sigstore.json"

// sign signs the checksums, the archives, the chart and the provenance, each in a file of its own, and the artifacts of
// the OCI layout.
func (r release) sign(ctx context.Context) error {
	key, err := load(r.key)
	if err != nil {
		return err
	}
	files, err := r.archives()
	if err != nil {
		return err
	}
	for _, file := range append(files, filepath.Join(r.folder, product+"-"+r.number()+".tgz"),
		filepath.Join(r.folder, "checksums.txt")) {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := r.signFile(ctx, key, file, &sigstore.PlainData{Data: data}); err != nil {
			return err
		}
	}
	statement := filepath.Join(r.folder, provenance)
	data, err := os.ReadFile(statement)
	if err != nil {
		return err
	}
	envelope := &sigstore.DSSEData{Data: data, PayloadType: "application/vnd.in-toto+json"}
	if err := r.signFile(ctx, key, statement, envelope); err != nil {
		return err
	}
	return r.signArtifacts(key)
}

// signFile writes a bundle of sigstore for a file, for cosign verify-blob --bundle.
func (r release) signFile(ctx context.Context, key *keypair, path string, content sigstore.Content) error {
	bundle, err := sigstore.Bundle(content, key, sigstore.BundleOptions{Context: ctx})
	if err != nil {
		return err
	}
	text, err := canonical(bundle)
	if err != nil {
		return err
	}
	file, err := filepath.Rel(r.folder, path)
	if err != nil {
		return err
	}
	return r.write(file+suffix, text)
}

// signArtifacts writes a layout of the signatures, for cosign verify. The tag of a signature names the digest that it
// signs. Every version of cosign, and the admission controllers, know this form. The signatures have a layout of their
// own, because their bytes differ in each run.
func (r release) signArtifacts(key *keypair) error {
	out, err := layout.Write(filepath.Join(r.folder, "signatures"), ociempty.Index)
	if err != nil {
		return err
	}
	return r.artifacts("image", func(each v1.Descriptor, _ remote.Taggable) error {
		repository, _, _ := strings.Cut(each.Annotations[refName], ":")
		signed, err := name.NewDigest(r.registry + "/" + repository + "@" + each.Digest.String())
		if err != nil {
			return err
		}
		claim, err := payload.Cosign{Image: signed}.MarshalJSON()
		if err != nil {
			return err
		}
		proof, err := key.SignMessage(bytes.NewReader(claim))
		if err != nil {
			return err
		}
		layer, err := static.NewSignature(claim, base64.StdEncoding.EncodeToString(proof))
		if err != nil {
			return err
		}
		image, err := mutate.AppendSignatures(empty.Signatures(), false, layer)
		if err != nil {
			return err
		}
		return out.AppendImage(image, layout.WithAnnotations(map[string]string{
			refName: repository + ":" + each.Digest.Algorithm + "-" + each.Digest.Hex + ".sig",
		}))
	})
}

// A keypair signs files. Its methods describe the only kind of key that cosign generates.
type keypair struct {
	signature.Signer
	public *ecdsa.PublicKey
}

func password(bool) ([]byte, error) { return []byte(os.Getenv("COSIGN_PASSWORD")), nil }

// load reads a key, which cosign generate-key-pair or openssl wrote.
func load(file string) (*keypair, error) {
	signer, err := signature.LoadSignerFromPEMFile(file, crypto.SHA256, password)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	public, err := signer.PublicKey()
	if err != nil {
		return nil, err
	}
	if key, ok := public.(*ecdsa.PublicKey); ok && key.Curve == elliptic.P256() {
		return &keypair{signer, key}, nil
	}
	return nil, errors.New("the key is not an ECDSA key on P-256; cosign generate-key-pair writes one")
}

func (*keypair) GetHashAlgorithm() common.HashAlgorithm { return common.HashAlgorithm_SHA2_256 }

func (*keypair) GetSigningAlgorithm() common.PublicKeyDetails {
	return common.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256
}

func (*keypair) GetKeyAlgorithm() string { return "ECDSA" }

// GetHint returns the hint of cosign: a digest of the public key.
func (k *keypair) GetHint() []byte {
	der, err := cryptoutils.MarshalPublicKeyToDER(k.public)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(der)
	return []byte(base64.StdEncoding.EncodeToString(sum[:]))
}

func (k *keypair) GetPublicKey() crypto.PublicKey { return k.public }

func (k *keypair) GetPublicKeyPem() (string, error) {
	text, err := cryptoutils.MarshalPublicKeyToPEM(k.public)
	return string(text), err
}

func (k *keypair) SignData(_ context.Context, data []byte) (signed, sum []byte, err error) {
	hashed := sha256.Sum256(data)
	signed, err = k.SignMessage(bytes.NewReader(data))
	return signed, hashed[:], err
}
