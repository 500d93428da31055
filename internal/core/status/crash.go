package status

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// exceptions lists the known exceptions that end a server, and their remedies. In the list, a specific exception
// precedes the general exceptions that follow it in a traceback. The status shows only the name of an exception and
// never its message, because servers print the values that they reject, including secrets (input_value='…').
var exceptions = []struct{ class, remedy string }{
	{"InvalidPasswordError", "PostgreSQL rejects the password; check the Secret that contains the connection string"},
	{"InvalidAuthorizationSpecificationError", "PostgreSQL rejects the user; check the Secret that contains the connection string"},
	{"InvalidCatalogNameError", "the PostgreSQL database does not exist; create the database, or check the connection string"},
	{"AuthenticationError", "a store or a provider rejects the credentials; check the Secrets that the spec names"},
	{"SSLCertVerificationError", "the server does not trust a certificate; add the CA certificate to spec.networking.tls.caBundle"},
	{"gaierror", "a host name cannot be resolved; check the endpoints in the spec and in the Secrets that the spec names"},
	{"ConnectionRefusedError", "a store or a provider is not listening at its endpoint; check the endpoint, and make sure that the store or provider is running"},
	{"ConnectError", "a store or a provider cannot be reached; check the endpoint, and make sure that the store or provider is running"},
	{"ConnectTimeout", "a store or a provider does not respond; check the endpoints and the network policies"},
	{"TimeoutError", "a store or a provider does not respond; check the endpoints and the network policies"},
	{"ConnectionError", "a store or a provider cannot be reached; check the endpoint, and make sure that the store or provider is running"},
	{"ModuleNotFoundError", "the image lacks a package that a provider needs; disable the provider, or use an image that contains the package"},
	{"PermissionError", "a file cannot be written or read; check the volumes in the spec, and the owner of the files on these volumes"},
	{"OutOfMemoryError", "the accelerator does not have enough memory; use a smaller model, or an accelerator with more memory"},
	{"OperationalError", "a database cannot be opened; for a SQLite file, check that the volume has free space and that no other pod writes to the file; for PostgreSQL, check the connection string and the database server"},
	{"ValidationError", "the server rejects its configuration; correct the value that the error names, or restore the earlier spec"},
	{"SSLError", "a TLS connection fails; check the endpoint, and the certificate of the store or provider"},
	{"ImportError", ""},
	{"FileNotFoundError", ""},
	{"OSError", ""},
	{"KeyError", ""},
	{"TypeError", ""},
	{"AttributeError", ""},
	{"AssertionError", ""},
	{"NotImplementedError", ""},
	{"ValueError", ""},
	{"RuntimeError", ""},
	{"MemoryError", ""},
}

// exceptionLine matches the beginning of a line that may name an exception, such as the last line of a traceback.
var exceptionLine = regexp.MustCompile(`(?m)^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?::|$)`)

const (
	// These are the exit codes of a process that was ended by the signal SIGKILL or SIGTERM.
	exitKilled     = 137
	exitTerminated = 143
	// exitUnknown is the exit code that containerd reports for a container that it finds without a process.
	exitUnknown = 255
)

// lateHealthCheck is the likely reason why the kubelet stopped a container.
const lateHealthCheck = "its health check did not pass in time"

// crash returns the reason why a container ended. The kubelet restarts the container, so the message refers to the logs
// of the previous instance.
func crash(pod, container string, ended *corev1.ContainerStateTerminated) string {
	return crashed(container, ended, fmt.Sprintf("see kubectl logs %s -c %s --previous", pod, container))
}

// crashed returns the reason why a container ended. logs is a hint for finding the container's logs.
func crashed(container string, ended *corev1.ContainerStateTerminated, logs string) string {
	switch {
	case ended.Reason == "OOMKilled":
		return fmt.Sprintf("container %q ran out of memory; raise the memory limit of the container (for the server, spec.workload.resources.limits.memory)", container)
	case slices.Contains(notStarted, ended.Reason): // the container runtime could not start the process
		return fmt.Sprintf("container %q cannot be started: %s", container, takenOver(ended.Message))
	}
	if class, remedy := exceptionIn(ended.Message); class != "" {
		if remedy != "" {
			remedy = ": " + remedy
		}
		return fmt.Sprintf("container %q crashed with %s%s; %s", container, class, remedy, logs)
	}
	switch ended.ExitCode {
	case 0:
		return fmt.Sprintf("container %q ended with exit code 0, possibly because its program could not start, or because %s; %s", container, lateHealthCheck, logs)
	case exitKilled, exitTerminated:
		return fmt.Sprintf("container %q was stopped (exit code %d), possibly because %s; %s",
			container, ended.ExitCode, lateHealthCheck, logs)
	default:
		return fmt.Sprintf("container %q crashed with exit code %d; %s", container, ended.ExitCode, logs)
	}
}

// exceptionIn returns the most specific known exception in a termination message, and its remedy. Both are empty if
// there is no such exception.
func exceptionIn(message string) (class, remedy string) {
	found := map[string]bool{}
	for _, match := range exceptionLine.FindAllStringSubmatch(message, -1) {
		found[match[1]] = true
	}
	for _, exception := range exceptions {
		if found[exception.class] {
			return exception.class, exception.remedy
		}
	}
	return "", ""
}
