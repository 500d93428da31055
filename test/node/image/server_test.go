package image

import "testing"

func TestServerOmits(t *testing.T) {
	library := python{Library: "/usr/lib/python3.13"}
	for path, want := range map[string]bool{
		"/usr/lib/python3.13/test":                                           true,
		"/usr/lib/python3.13/unittest":                                       false,
		"/usr/lib/python3.13/unittest/test":                                  false,
		"/usr/lib/python3.13/lib-dynload/_tkinter.cpython-313.so":            true,
		"/usr/lib/python3.13/lib-dynload/_ssl.cpython-313.so":                false,
		"/usr/lib/python3.13/json/__pycache__/decoder.cpython-313.pyc":       false,
		"/usr/lib/python3.13/json/__pycache__/decoder.cpython-313.opt-1.pyc": true,
	} {
		if got := library.omit(path); got != want {
			t.Errorf("%s is omitted: %t, want %t", path, got, want)
		}
	}
	for path, want := range map[string]bool{
		"/site-packages/oci":                                true,
		"/site-packages/oci-2.189.0.dist-info":              true,
		"/site-packages/ociutil":                            false,
		"/site-packages/numpy/tests":                        true,
		"/site-packages/llama_stack/core/server":            false,
		"/site-packages/pydantic/main.pyi":                  true,
		"/site-packages/botocore/data":                      false,
		"/site-packages/botocore/data/endpoints.json":       false,
		"/site-packages/botocore/data/ec2":                  true,
		"/site-packages/botocore/data/bedrock-runtime":      false,
		"/site-packages/botocore/data/s3/2006-03-01":        false,
		"/site-packages/botocore/data/s3control":            true,
		"/site-packages/botocore/data/bedrock/v1/x.json.gz": false,
	} {
		if got := omitPackage("/venv/lib/python3.13" + path); got != want {
			t.Errorf("%s is omitted: %t, want %t", path, got, want)
		}
	}
}
