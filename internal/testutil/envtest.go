package testutil

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

const (
	// assetsVariable is the environment variable that specifies the directory of the control plane's binaries.
	assetsVariable = "KUBEBUILDER_ASSETS"
	// emulatedVariable is the environment variable that specifies an older version of Kubernetes, such as 1.34, whose APIs
	// and features the API server emulates. If it is unset, the API server uses its own version.
	emulatedVariable = "EMULATED_KUBERNETES"
)

var assetPrograms = []string{"etcd", "kube-apiserver", "kubectl"}

// Options changes the control plane that Start starts. With the zero value, Start installs the CustomResourceDefinition
// and the policy.
type Options struct {
	// Bare skips the installation of the CustomResourceDefinition and the policy. See Install.
	Bare bool
	// AuditLog is a file to which the API server writes one JSON line with the metadata of each request. If AuditLog is
	// the empty string, there is no audit log.
	AuditLog string
	// APIServerFlags are additional flags for the API server. Their names have no leading dashes.
	APIServerFlags map[string]string
	// CertDir is a directory for the API server's certificates and keys, for a test that restarts the API server. If
	// CertDir is the empty string, the API server uses a temporary directory that is removed when the API server stops.
	CertDir string
	// EtcdThrough returns the address at which the API server connects to etcd, for a test that runs a proxy between them.
	// Its argument is the address of etcd. If EtcdThrough is nil, the API server connects to that address.
	EtcdThrough func(etcd string) (string, error)
}

// ControlPlane is a running etcd and API server.
type ControlPlane struct {
	// Config is the configuration of a client that acts as a cluster administrator.
	Config *rest.Config

	environment *envtest.Environment
	auditPolicy string
}

// Start starts etcd and an API server from the binaries in KUBEBUILDER_ASSETS. Unless Options.Bare is set, it installs
// the manifests in config/crd and config/policy. OwnerReferencesPermissionEnforcement is on, as in OpenShift. Missing
// binaries are an error and do not cause the test to be skipped.
func Start(options Options) (*ControlPlane, error) {
	assets, err := assets()
	if err != nil {
		return nil, err
	}
	plane := &ControlPlane{environment: &envtest.Environment{BinaryAssetsDirectory: assets}}
	flags := plane.environment.ControlPlane.GetAPIServer().Configure()
	flags.Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	if version := os.Getenv(emulatedVariable); version != "" {
		flags.Set("emulated-version", version)
	}
	for name, value := range options.APIServerFlags {
		flags.Set(name, value)
	}
	if options.CertDir != "" {
		server := plane.environment.ControlPlane.GetAPIServer()
		server.CertDir, server.StopTimeout = options.CertDir, grace
	}
	if options.EtcdThrough != nil {
		if err := plane.reachEtcd(options.EtcdThrough); err != nil {
			return nil, err
		}
	}
	if options.AuditLog != "" {
		if plane.auditPolicy, err = writeAuditPolicy(); err != nil {
			return nil, err
		}
		flags.Set("audit-policy-file", plane.auditPolicy)
		flags.Set("audit-log-path", options.AuditLog)
		// The size is in MB. The API server does not rotate a file that is smaller, so a reader can keep its position in the
		// file.
		flags.Set("audit-log-maxsize", "1048576")
	}
	if plane.Config, err = plane.environment.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a control plane from %s: %w", assets, err), plane.Stop())
	}
	plane.Config.QPS = -1
	if options.Bare {
		return plane, nil
	}
	if err := plane.Install(); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}

// reachEtcd makes the API server connect to etcd at the address that the function `through` returns.
func (p *ControlPlane) reachEtcd(through func(etcd string) (string, error)) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a port for etcd: %w", err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return fmt.Errorf("find a port for etcd: %w", err)
	}
	reached, err := through(address)
	if err != nil {
		return err
	}
	p.environment.ControlPlane.Etcd = &envtest.Etcd{URL: &url.URL{Scheme: "http", Host: address}}
	p.environment.ControlPlane.GetAPIServer().Configure().Set("etcd-servers", "http://"+reached)
	return nil
}

// StopAPIServer stops the API server, but not etcd. StartAPIServer starts the API server again. StopAPIServer requires
// Options.CertDir.
func (p *ControlPlane) StopAPIServer() error {
	if err := ended(p.environment.ControlPlane.GetAPIServer().Stop()); err != nil {
		return fmt.Errorf("stop the API server: %w", err)
	}
	return nil
}

// grace is the time that an API server with Options.CertDir may take to stop. Open watches delay the stop.
const grace = 3 * time.Second

// ended returns nil for the error about a server that had to be killed, and any other error unchanged.
func ended(err error) error {
	if err != nil && strings.Contains(err.Error(), "timeout waiting for process kube-apiserver to stop") {
		return nil
	}
	return err
}

// StartAPIServer starts the API server again, with the same address, certificates and keys.
func (p *ControlPlane) StartAPIServer() error {
	server := p.environment.ControlPlane.GetAPIServer()
	server.Args = nil //nolint:staticcheck // otherwise, Start would add its arguments to these
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	return nil
}

// Stop stops etcd and the API server, and removes their files.
func (p *ControlPlane) Stop() error {
	err := ended(p.environment.Stop())
	if p.auditPolicy != "" {
		err = errors.Join(err, os.Remove(p.auditPolicy))
	}
	return err
}

// AddUser creates a user with its own certificate, and returns the configuration of a client that acts as the
// user.
func (p *ControlPlane) AddUser(name string, groups ...string) (*rest.Config, error) {
	user, err := p.environment.AddUser(envtest.User{Name: name, Groups: groups}, p.Config)
	if err != nil {
		return nil, fmt.Errorf("add user %q: %w", name, err)
	}
	return user.Config(), nil
}

// Kubeconfig returns the contents of a kubeconfig file for the cluster administrator.
func (p *ControlPlane) Kubeconfig() ([]byte, error) {
	user, err := p.environment.AddUser(envtest.User{Name: "kubectl", Groups: []string{"system:masters"}}, p.Config)
	if err != nil {
		return nil, fmt.Errorf("add a user for kubectl: %w", err)
	}
	return user.KubeConfig()
}

// Kubectl returns the path of the control plane's own kubectl.
func Kubectl() string { return filepath.Join(os.Getenv(assetsVariable), "kubectl") }

// Root returns the path of the repository.
func Root() string { return worktree.Root() }

func assets() (string, error) {
	folder := os.Getenv(assetsVariable)
	if folder == "" {
		return "", fmt.Errorf("%s is not set: these tests need a real API server; run them with `make test`", assetsVariable)
	}
	for _, program := range assetPrograms {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			return "", fmt.Errorf("the folder in %s does not contain %s; run these tests with `make test`: %w", assetsVariable, program, err)
		}
	}
	return folder, nil
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func writeAuditPolicy() (string, error) {
	file, err := os.CreateTemp("", "audit-policy-*.yaml")
	if err != nil {
		return "", fmt.Errorf("write the audit policy: %w", err)
	}
	_, err = file.WriteString(auditPolicy)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write the audit policy: %w", err)
	}
	return file.Name(), nil
}
