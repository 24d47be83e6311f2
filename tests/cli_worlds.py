"""Files that commands are given: good settings, and everything that may be wrong with a file."""

NOW = "2026-06-01T00:00:00Z"
FILES = {
    "settings.yaml": f"now: {NOW}\n",
    "proxy.yaml": f"now: {NOW}\ncozyProxyContractImplemented: true\n",
    "broken.yaml": "apiVersion: v1\nkind: Secret\n  metadata: [\n",
    "no-object.yaml": "- just\n- a list\n",
    "no-name.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {}\n",
    "twice.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
    ),
    "table.yaml": (
        "engines:\n- {kind: NATS, sourceSecretName: '{{ .release }}-ca'}\n"
        "- {kind: Kafka, sourceSecretName: '{{ .release }}-ca'}\n"
    ),
    "table-broken.yaml": "engines:\n- kind: NATS\n",
    "table-twice.yaml": (
        "engines:\n- {kind: NATS, sourceSecretName: a}\n- {kind: NATS, sourceSecretName: b}\n"
    ),
    "table-shape.yaml": "machines: []\n",
    "settings-unknown.yaml": "colour: blue\n",
    "settings-broken.yaml": "now: [\n",
    "settings-capability.yaml": "capabilities: [lineages]\n",
    "anchors-alone.yaml": "capabilities: [anchors]\n",
    "settings-time.yaml": "now: yesterday\n",
    "kubeconfig-broken.yaml": "apiVersion: v1\nclusters: {\n",
    "kubeconfig.yaml": (
        "apiVersion: v1\nkind: Config\ncurrent-context: one\n"
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
        "users: [{name: u, user: {token: canary-token}}]\n"
        "contexts: [{name: one, context: {cluster: c, user: u, namespace: tenant-blue}}]\n"
    ),
}
