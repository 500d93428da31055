// Asks the search of a built site the questions below, with the theme's own worker. `make test-search` runs it.
//
//   node site/search.test.js FOLDER     the folder with the built site
const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')

// The questions, and the pages that answer each of them. One of these pages must be among the first three results, and
// for nine questions of ten the first.
const questions = `
kserve | how-to/vllm how-to/expose
velero | how-to/backup-and-restore
service mesh | how-to/network-policy
quota | how-to/cors-and-quotas how-to/tenants
upgrade 0.7 to 1.5 | how-to/choose-and-upgrade-release
upgrade | how-to/choose-and-upgrade-release how-to/upgrade-operator
env | how-to/pods how-to/secrets
huggingface token | how-to/secrets how-to/offline
loadbalancer | how-to/expose
log level | troubleshooting how-to/pods how-to/inspect-a-stack
debug logging | how-to/inspect-a-stack how-to/pods
gpu | how-to/pods
tls | how-to/certificates how-to/expose
https | how-to/certificates how-to/expose
uninstall | how-to/uninstall
install | how-to/install
api key | how-to/secrets
ollama | how-to/hosted-models how-to/vllm
rag | how-to/rag
mcp | how-to/tools
crashloopbackoff | troubleshooting/pods-do-not-start
oomkilled | troubleshooting/pods-do-not-start
not ready | troubleshooting/not-ready
rollback | how-to/choose-and-upgrade-release troubleshooting/rollouts explanation/rollout
hpa | how-to/several-replicas
ingress | how-to/expose
oidc | how-to/authentication
airgap | how-to/air-gap
disconnected | how-to/air-gap
argocd | how-to/gitops
prometheus | how-to/monitor
secret rotation | how-to/secrets
sidecar | how-to/pods
storage class | how-to/volumes
migrate v1alpha1 | how-to/migrate-from-v1alpha1
multiple models | how-to/register-models how-to/vllm
playground | how-to/playground
retainOnDelete | how-to/volumes
SecretValueUnusable | troubleshooting/secrets how-to/secrets
llamastack.io/paused | how-to/pause
DeploymentUpdateFailed | troubleshooting/rollouts troubleshooting/not-ready
LLAMA_STACK_LOGGING | how-to/inspect-a-stack how-to/sections-without-a-field
traces | how-to/monitor
letsencrypt | how-to/expose how-to/certificates
route53 | how-to/expose how-to/certificates
eks | how-to/install
minikube | quickstart
no endpoints | troubleshooting/network-and-exposure
401 | troubleshooting/clients-get-errors
model not found | troubleshooting/clients-get-errors
models | how-to/register-models
storageclass | how-to/volumes
upgrading operators | how-to/upgrade-operator
VLLM_URL | how-to/vllm
ImagePullBackOff | troubleshooting/pods-do-not-start
delete | how-to/uninstall how-to/volumes
logs | how-to/inspect-a-stack reference/cli/logs
python client | how-to/call-the-server
javascript | how-to/call-the-server
environment variables | how-to/pods
nodeport | how-to/expose
grafana | how-to/monitor
gke | how-to/install
scale to zero | how-to/several-replicas
memory | explanation/sizing reference/distributions
start time | reference/distributions
how do I install | how-to/install
custom image | how-to/own-image
where is my data | explanation/data
supported versions | explanation/versions how-to/choose-and-upgrade-release
`

// The worker has the interface of a browser's worker. The function returns what it answers to a message.
function start (site) {
  const folder = path.join(site, 'assets', 'javascripts', 'workers')
  const file = fs.readdirSync(folder).find(name => /^search\..*\.js$/.test(name))
  let listen, resolve
  const self = vm.createContext({
    console,
    addEventListener: (_, listener) => { listen = listener },
    postMessage: message => resolve(message.data)
  })
  self.self = self
  vm.runInContext(fs.readFileSync(path.join(folder, file), 'utf8'), self)
  return data => new Promise(done => { resolve = done; listen({ data }) })
}

async function main (site) {
  const ask = start(site)
  const index = JSON.parse(fs.readFileSync(path.join(site, 'search', 'search_index.json'), 'utf8'))
  await ask({ type: 0, data: { ...index, options: {} } })
  const rows = questions.trim().split('\n').map(row => row.split(' | '))
  let first = 0
  let failed = 0
  for (const [question, pages] of rows) {
    const { items } = await ask({ type: 2, data: question })
    const found = [...new Set(items.map(([section]) => section.location.replace(/\/?(#.*)?$/, '')))]
    const rank = found.findIndex(page => pages.split(' ').includes(page)) + 1
    first += rank === 1
    // A result shows the words that its page lacks. For a question of one word, the first page has it.
    if (/^[a-z]+$/.test(question) && items[0]?.[0].terms[question] === false) {
      failed++
      console.error(`${question}: the result ${found[0]} shows it as a missing word`)
    }
    if (rank < 1 || rank > 3) {
      failed++
      console.error(`${question}: the rank of ${pages} is ${rank || 'none'}; the first are ${found.slice(0, 3).join(' ')}`)
    }
  }
  console.log(`${first} of ${rows.length} questions have the right page first, ${rows.length - failed} among the first three`)
  process.exitCode = failed || first < rows.length * 0.9 ? 1 : 0
}

main(process.argv[2])
