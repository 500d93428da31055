package testutil

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// BuildOperator builds the operator with the given version, for a test that runs it as a separate process. It returns
// the path of the binary.
func BuildOperator(t testing.TB, version string) string {
	t.Helper()
	return build(t, "manager", version)
}

// BuildCommandLine builds kubectl-llamastack with the given version. It returns the path of the binary.
func BuildCommandLine(t testing.TB, version string) string {
	t.Helper()
	return build(t, "kubectl-llamastack", version)
}

// build builds a program of this module. The path depends only on the program and its version, so that go links the
// program once for all tests, as long as its code does not change.
func build(t testing.TB, name, version string) string {
	t.Helper()
	program := filepath.Join(Root(), ".cache", "test", "programs", version, name)
	command := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w -X main.version="+version, "-o", program,
		"./cmd/"+name)
	command.Dir = Root()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, output)
	}
	return program
}

// OperatorToken creates a token for the shipped ServiceAccount, as the kubelet does for the operator's pod. If the
// Secret `bound` is not nil, the token is valid only while that Secret exists.
func (p *ControlPlane) OperatorToken(ctx context.Context, bound *corev1.Secret) (string, error) {
	admin, err := p.Client()
	if err != nil {
		return "", err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: names.OperatorNamespace,
		Name:      names.OperatorServiceAccount,
	}}
	request := &authenticationv1.TokenRequest{}
	if bound != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Secret", Name: bound.Name, UID: bound.UID,
		}
	}
	if err := admin.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("create a token: %w", err)
	}
	return request.Status.Token, nil
}

// WriteKubeconfig writes a kubeconfig that contains only a server, its certificate authority and the path of a token
// file.
func WriteKubeconfig(file, server string, authority []byte, tokenFile string) error {
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: server, CertificateAuthorityData: authority}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"operator": {TokenFile: tokenFile}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "operator"}},
		CurrentContext: "test",
	}
	if err := clientcmd.WriteToFile(config, file); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
