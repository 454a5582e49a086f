"""Checks of the Kubernetes manifests: the schemas, and everything that they refer to."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate

from files import DEPLOY, manifests, require

# An old version, and the newest version with schemas.
VERSIONS = ("1.30", "1.37")
FOLDER = DEPLOY / "kubernetes"
# The variables that Kubernetes replaces with the pod's name and namespace.
POD_VARIABLES = ("POD_NAME", "POD_NAMESPACE")
KIND = "StatefulSet"
KINDS = {KIND, "Service", "PodDisruptionBudget", "NetworkPolicy", "ServiceAccount"}


class Manifests:
    """The objects of a folder, each pod of which runs a server, and the objects they refer to."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.own = manifests(folder)
        # Brokers use the Secrets of the servers.
        self.all = self.own | manifests(FOLDER)
        self.monitoring = manifests(folder / "monitoring")
        self.workload = self.own[KIND, name]["spec"]
        self.pod = self.workload["template"]["spec"]
        (self.container,) = self.pod["containers"]
        self.arguments: list[str] = self.container["args"]
        # The commands that create the namespaces.
        self.inits: list[list[str]] = [init["args"] for init in self.pod["initContainers"]]
        # The token of the service account is the credential of a store in the cluster itself.
        environment = {variable["name"]: variable for variable in self.container["env"]}
        self.is_in_cluster = "value" in environment["FLAKEID_STORE"]

    def flag(self, name: str) -> str:
        """Return the value of an argument such as --listen."""
        (value,) = (a.split("=", 1)[1] for a in self.arguments if a.startswith(f"--{name}="))
        return value

    def secret_keys(self, name: str) -> set[str]:
        """Return the keys of a Secret."""
        return set(self.all["Secret", name]["stringData"])

    def mounted(self) -> dict[str, tuple[str, str]]:
        """Return the Secret and the key of every file that is mounted into the container."""
        volumes = {volume["name"]: volume["secret"] for volume in self.pod["volumes"]}
        files = {}
        for mount in self.container["volumeMounts"]:
            secret = volumes[mount["name"]]
            name = secret["secretName"]
            every = [{"key": key, "path": key} for key in self.secret_keys(name)]
            for item in secret.get("items", every):
                files[f"{mount['mountPath']}/{item['path']}"] = (name, item["key"])
        return files

    def probes(self) -> dict[str, dict[str, Any]]:
        """Return the probes by name."""
        names = ("startupProbe", "livenessProbe", "readinessProbe")
        return {name: self.container[name]["httpGet"] for name in names}

    @classmethod
    def servers(cls) -> "Manifests":
        """Return the manifests of servers without leases."""
        return cls(FOLDER / "servers", "flakeid-serve")

    @classmethod
    def brokers(cls) -> "Manifests":
        """Return the manifests of brokers."""
        return cls(FOLDER / "brokers", "flakeid-broker")


def seconds(text: str) -> float:
    """Parse a time such as 10s or 500ms."""
    number, unit = re.fullmatch(r"(\d+)(ms|s|min)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "min": 60}[unit]


def schemas(found: Manifests) -> None:
    """Check every object against the schema of its kind. Unknown fields are errors."""
    kinds = {kind for kind, _ in found.own}
    wanted = KINDS | ({"Role", "RoleBinding"} if found.is_in_cluster else set())
    require(kinds == wanted, f"{found.name} has unexpected objects: {sorted(found.own)}")
    for version in VERSIONS:
        for part in found.own.values():
            kubernetes_validate.validate(part, version, strict=True)


def references(found: Manifests) -> None:
    """Check that all referenced labels, ports, secrets and files exist."""
    labels = found.workload["template"]["metadata"]["labels"].items()
    port = int(found.flag("listen").rsplit(":", 1)[1])
    (container_port,) = found.container["ports"]
    require(container_port["containerPort"] == port, f"--listen is {port}: {container_port}")

    for kind, selector in (
        (KIND, found.workload["selector"]["matchLabels"]),
        *(
            (kind, part["spec"]["selector"])
            for (kind, _), part in found.own.items()
            if kind == "Service"
        ),
        (
            "PodDisruptionBudget",
            found.own["PodDisruptionBudget", found.name]["spec"]["selector"]["matchLabels"],
        ),
        (
            "NetworkPolicy",
            found.own["NetworkPolicy", found.name]["spec"]["podSelector"]["matchLabels"],
        ),
        *(
            ("topologySpreadConstraints", spread["labelSelector"]["matchLabels"])
            for spread in found.pod["topologySpreadConstraints"]
        ),
    ):
        require(selector.items() <= labels, f"{kind} selects other pods: {selector}")

    (rule,) = found.own["NetworkPolicy", found.name]["spec"]["ingress"]
    require(rule["ports"] == [{"protocol": "TCP", "port": port}], f"NetworkPolicy: {rule}")

    services = [part for (kind, _), part in found.own.items() if kind == "Service"]
    for where, name in (
        *(("Service", port["targetPort"]) for part in services for port in part["spec"]["ports"]),
        *((name, probe["port"]) for name, probe in found.probes().items()),
    ):
        require(name == container_port["name"], f"{where}: there is no port {name}")

    for variable in found.container["env"]:
        if "value" in variable:
            continue
        source = variable["valueFrom"]
        if "fieldRef" in source:
            require(variable["name"] in POD_VARIABLES, f"{variable['name']} is never used")
            continue
        key = source["secretKeyRef"]
        require(key["key"] in found.secret_keys(key["name"]), f"no such secret: {key}")
    mounted = found.mounted()
    for name, key in mounted.values():
        require(key in found.secret_keys(name), f"Secret {name} has no {key}")
    for flag in ("tls-cert", "tls-key", "token-file"):
        require(found.flag(flag) in mounted, f"--{flag} is not a mounted file: {sorted(mounted)}")


def monitoring(found: Manifests) -> None:
    """Check that the ServiceMonitor selects the Service, and that its port and secrets exist."""
    monitor = found.monitoring["ServiceMonitor", found.name]["spec"]
    service = found.own["Service", found.name]
    selector = monitor["selector"]["matchLabels"]
    # Only one of several Services has the labels, so each pod is scraped once.
    selected = [
        name
        for (kind, name), part in found.own.items()
        if kind == "Service" and selector.items() <= part["metadata"].get("labels", {}).items()
    ]
    require(selected == [found.name], f"{selector} selects {selected}")
    (endpoint,) = monitor["endpoints"]
    names = [port["name"] for port in service["spec"]["ports"]]
    require(endpoint["port"] in names, f"the Service has no port {endpoint['port']}")
    authority = endpoint["tlsConfig"]["ca"]["secret"]
    for key in (endpoint["authorization"]["credentials"], authority):
        require(key["key"] in found.secret_keys(key["name"]), f"no such secret: {key}")


def addresses(found: Manifests) -> None:
    """Check that clients can address each broker by the name that the StatefulSet gives its pod."""
    if "--no-leases" in found.arguments:
        return
    headless = found.workload["serviceName"]
    service = found.own["Service", headless]["spec"]
    require(
        service["clusterIP"] == "None", f"Service {headless} is not headless, so pods have no names"
    )
    require(
        service["publishNotReadyAddresses"], f"Service {headless} omits pods that are not ready"
    )
    variables = {variable["name"]: variable.get("valueFrom") for variable in found.container["env"]}
    for name, path in zip(POD_VARIABLES, ("metadata.name", "metadata.namespace"), strict=True):
        require(variables[name] == {"fieldRef": {"fieldPath": path}}, f"{name} is not {path}")
    (port,) = service["ports"]
    url = f"https://$(POD_NAME).{headless}.$(POD_NAMESPACE).svc:{port['port']}"
    require(found.flag("advertise") == url, f"--advertise is not {url}")
    # Clients send their token to a pod only if the `brokers` option of their URL lists it.
    guide = (DEPLOY.parent / "docs/src/operations/deploy.md").read_text()
    listed = f"brokers=*.{headless}.NAMESPACE.svc"
    require(listed in guide, f"the URL of clients in the guide lacks {listed}")


def shutdown(found: Manifests) -> None:
    """Check that the grace period of a pod exceeds the shutdown time of its server."""
    takes = seconds(found.flag("drain")) + seconds(found.flag("shutdown-timeout"))
    grace = found.pod["terminationGracePeriodSeconds"]
    # The server then still releases its nodes, which may take seconds.
    require(
        grace >= takes + 10,
        f"terminationGracePeriodSeconds is {grace}, but the shutdown takes {takes} s",
    )


def security(found: Manifests) -> None:
    """Check Kubernetes' profile `restricted`, a read-only file system, and the rights."""
    pod, container = found.pod["securityContext"], found.container["securityContext"]
    for what, ok in (
        ("runAsNonRoot", pod["runAsNonRoot"] and pod["runAsUser"] > 0),
        ("seccompProfile", pod["seccompProfile"] == {"type": "RuntimeDefault"}),
        ("allowPrivilegeEscalation", container["allowPrivilegeEscalation"] is False),
        ("readOnlyRootFilesystem", container["readOnlyRootFilesystem"] is True),
        ("capabilities", container["capabilities"] == {"drop": ["ALL"]}),
        (
            "automountServiceAccountToken",
            found.pod["automountServiceAccountToken"] is found.is_in_cluster,
        ),
        ("serviceAccountName", ("ServiceAccount", found.pod["serviceAccountName"]) in found.own),
    ):
        require(ok, f"{found.name}: {what}")
    for init in found.pod["initContainers"]:
        same = all(init[key] == found.container[key] for key in ("image", "env", "securityContext"))
        require(same, f"{found.name}: {init['name']} differs from the server")


def namespaces(found: Manifests) -> None:
    """Check that missing namespaces are created as lost ones, never as fresh ones."""
    (namespace,) = found.inits
    require(namespace[:2] == ["leases", "init"], f"{found.name}: {namespace}")
    require(f"--namespace={found.flag('namespace')}" in namespace, f"{found.name}: {namespace}")
    require("--lost=default" in namespace, f"{found.name}: {namespace}")
    has_blocks = any(argument.startswith("--block-bits=") for argument in namespace)
    require(has_blocks is ("--no-leases" not in found.arguments), f"{found.name}: {namespace}")


def rights(found: Manifests) -> None:
    """Check that the role permits to read and change only the documents of the store."""
    if not found.is_in_cluster:
        return
    document = f"{found.name}-{found.flag('namespace')}"
    check = [f"{found.name}-connection-check"]
    wanted = [(["create"], None), (["get", "patch"], [document]), (["get"], check)]
    rules = found.own["Role", found.name]["rules"]
    has = [(rule["verbs"], rule.get("resourceNames")) for rule in rules]
    require(has == wanted, f"Role {found.name}: {has}, not {wanted}")
    kinds = {(*rule["apiGroups"], *rule["resources"]) for rule in rules}
    require(kinds == {("", "configmaps")}, f"Role {found.name}: {kinds}")


def image(found: Manifests) -> None:
    """Check that the Dockerfile has the user and the port of the pods."""
    lines = (DEPLOY / "image" / "Dockerfile").read_text().splitlines()
    pod = found.pod["securityContext"]
    user = f"USER {pod['runAsUser']}:{pod['runAsGroup']}"
    port = f"EXPOSE {found.flag('listen').rsplit(':', 1)[1]}"
    for line in ("FROM scratch", user, port):
        require(line in lines, f"deploy/image/Dockerfile has no line {line!r}")
    last = [line for line in lines if line.startswith("USER")][-1]
    require(last == user, f"deploy/image/Dockerfile: {last}")


CHECKS = (schemas, references, monitoring, addresses, shutdown, security, namespaces, rights, image)
