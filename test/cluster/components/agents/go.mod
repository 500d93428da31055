module github.com/llamastack/llama-stack-k8s-operator/test/cluster/components/agents

go 1.26.0
