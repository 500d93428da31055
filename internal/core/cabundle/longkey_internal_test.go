package cabundle

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// TestLongKey checks that a chain does not include a certificate with a long RSA key. To verify one signature with a
// key of 32 KiB takes seconds, and a Secret can hold keys of a megabyte.
func TestLongKey(t *testing.T) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block := func(public any) []byte {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, public, signer)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: der})
	}
	withRSA := func(bits uint) []byte {
		modulus := new(big.Int).Lsh(big.NewInt(1), bits-1)
		return block(&rsa.PublicKey{N: modulus.SetBit(modulus, 0, 1), E: 65537})
	}
	for bits, want := range map[uint]bool{4096: true, maxRSABits: true, maxRSABits + 1: false} {
		serving := NewServing(bytes.Join([][]byte{block(signer.Public()), withRSA(bits)}, nil), nil)
		if got := !serving.intermediates.Equal(x509.NewCertPool()); got != want {
			t.Errorf("%d bits: in the chain: %t, want %t", bits, got, want)
		}
	}
}
