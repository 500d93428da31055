module github.com/llamastack/llama-stack-k8s-operator/test/cluster

go 1.26.0
