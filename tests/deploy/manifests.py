"""The Kubernetes manifests: they follow the schemas, and all that they refer to is there."""

import re
from typing import Any

import kubernetes_validate

from files import DEPLOY, manifests, require

# The oldest that has preStop.sleep, and the newest that the schemas know.
VERSIONS = ("1.30", "1.37")
NAME = "flakeid-serve"


class Manifests:
    """The objects of deploy/kubernetes and of its folder for the Prometheus Operator."""

    def __init__(self) -> None:
        self.all = manifests(DEPLOY / "kubernetes")
        self.monitoring = manifests(DEPLOY / "kubernetes" / "monitoring")
        self.deployment = self.all["Deployment", NAME]["spec"]
        self.pod = self.deployment["template"]["spec"]
        (self.container,) = self.pod["containers"]
        self.arguments: list[str] = self.container["args"]

    def flag(self, name: str) -> str:
        """What an argument such as --listen is given."""
        (value,) = (a.split("=", 1)[1] for a in self.arguments if a.startswith(f"--{name}="))
        return value

    def secret_keys(self, name: str) -> set[str]:
        """The keys of a Secret."""
        return set(self.all["Secret", name]["stringData"])

    def mounted(self) -> dict[str, tuple[str, str]]:
        """The Secret and the key of every file that the container sees."""
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
        """The probes, by their names."""
        names = ("startupProbe", "livenessProbe", "readinessProbe")
        return {name: self.container[name]["httpGet"] for name in names}


def seconds(text: str) -> float:
    """A time such as 10s or 500ms."""
    number, unit = re.fullmatch(r"(\d+)(ms|s|min)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "min": 60}[unit]


def schemas(found: Manifests) -> None:
    """Every object follows the schema of its kind, in which unknown fields are errors."""
    require(
        {kind for kind, _ in found.all}
        == {"Deployment", "Service", "Secret", "PodDisruptionBudget"},
        f"deploy/kubernetes has other kinds: {sorted(found.all)}",
    )
    for version in VERSIONS:
        for part in found.all.values():
            kubernetes_validate.validate(part, version, strict=True)


def references(found: Manifests) -> None:
    """Labels, ports, secrets and files are those of the objects that have them."""
    labels = found.deployment["template"]["metadata"]["labels"].items()
    port = int(found.flag("listen").rsplit(":", 1)[1])
    (container_port,) = found.container["ports"]
    require(container_port["containerPort"] == port, f"--listen is {port}: {container_port}")

    for kind, selector in (
        ("Deployment", found.deployment["selector"]["matchLabels"]),
        ("Service", found.all["Service", NAME]["spec"]["selector"]),
        (
            "PodDisruptionBudget",
            found.all["PodDisruptionBudget", NAME]["spec"]["selector"]["matchLabels"],
        ),
        *(
            ("topologySpreadConstraints", spread["labelSelector"]["matchLabels"])
            for spread in found.pod["topologySpreadConstraints"]
        ),
    ):
        require(selector.items() <= labels, f"{kind} selects other pods: {selector}")

    (service_port,) = found.all["Service", NAME]["spec"]["ports"]
    for where, name in (
        ("Service", service_port["targetPort"]),
        *((name, probe["port"]) for name, probe in found.probes().items()),
    ):
        require(name == container_port["name"], f"{where}: no port is called {name}")

    for variable in found.container["env"]:
        key = variable["valueFrom"]["secretKeyRef"]
        require(key["key"] in found.secret_keys(key["name"]), f"no such secret: {key}")
    mounted = found.mounted()
    for name, key in mounted.values():
        require(key in found.secret_keys(name), f"Secret {name} has no {key}")
    for flag in ("tls-cert", "tls-key", "token-file"):
        require(found.flag(flag) in mounted, f"--{flag} is no mounted file: {sorted(mounted)}")


def monitoring(found: Manifests) -> None:
    """The ServiceMonitor finds the Service, its port and its secrets."""
    monitor = found.monitoring["ServiceMonitor", NAME]["spec"]
    service = found.all["Service", NAME]
    selector = monitor["selector"]["matchLabels"]
    require(selector.items() <= service["metadata"]["labels"].items(), f"selects {selector}")
    (endpoint,) = monitor["endpoints"]
    names = [port["name"] for port in service["spec"]["ports"]]
    require(endpoint["port"] in names, f"the Service has no port {endpoint['port']}")
    authority = endpoint["tlsConfig"]["ca"]["secret"]
    for key in (endpoint["authorization"]["credentials"], authority):
        require(key["key"] in found.secret_keys(key["name"]), f"no such secret: {key}")


def shutdown(found: Manifests) -> None:
    """A pod may take longer to end than its server takes."""
    takes = found.container["lifecycle"]["preStop"]["sleep"]["seconds"]
    takes += seconds(found.flag("shutdown-timeout"))
    grace = found.pod["terminationGracePeriodSeconds"]
    # Then it still gives its nodes back, for which the store may take seconds.
    require(grace >= takes + 10, f"terminationGracePeriodSeconds is {grace}: it takes {takes}")


def security(found: Manifests) -> None:
    """What the profile `restricted` of Kubernetes asks for, a read-only file system, no account."""
    pod, container = found.pod["securityContext"], found.container["securityContext"]
    for what, ok in (
        ("runAsNonRoot", pod["runAsNonRoot"] and pod["runAsUser"] > 0),
        ("seccompProfile", pod["seccompProfile"] == {"type": "RuntimeDefault"}),
        ("allowPrivilegeEscalation", container["allowPrivilegeEscalation"] is False),
        ("readOnlyRootFilesystem", container["readOnlyRootFilesystem"] is True),
        ("capabilities", container["capabilities"] == {"drop": ["ALL"]}),
        ("automountServiceAccountToken", found.pod["automountServiceAccountToken"] is False),
    ):
        require(ok, f"deployment.yaml: {what}")


def image(found: Manifests) -> None:
    """The Dockerfile's user and port are those of the Deployment."""
    lines = (DEPLOY / "image" / "Dockerfile").read_text().splitlines()
    pod = found.pod["securityContext"]
    user = f"USER {pod['runAsUser']}:{pod['runAsGroup']}"
    port = f"EXPOSE {found.flag('listen').rsplit(':', 1)[1]}"
    for line in ("FROM scratch", user, port):
        require(line in lines, f"deploy/image/Dockerfile has no line {line!r}")
    last = [line for line in lines if line.startswith("USER")][-1]
    require(last == user, f"deploy/image/Dockerfile: {last}")


CHECKS = (schemas, references, monitoring, shutdown, security, image)
