"""The chart as helm renders it with three sets of values: against the registry of services and Kubernetes' schemas."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from spotthebot.contracts.services import SERVICES, ServiceEntry, get_service
from spotthebot.local.runtime.services import load_service

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "spotthebot"
VALUES = {path.stem: path for path in sorted((ROOT / "deploy" / "helm" / "values").glob("*.yaml"))}
_FETCHED = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spotthebot" / "helm" / "helm"
HELM = shutil.which("helm") or (str(_FETCHED) if _FETCHED.exists() else None)
KUBERNETES = "1.35"
CUSTOM = {"Cluster", "PodMonitor"}
"""Kinds of CloudNativePG and of the Prometheus operator, whose schemas are not Kubernetes' own."""
LABELS = "app.kubernetes.io/"

pytestmark = pytest.mark.skipif(HELM is None, reason="helm is missing: deploy/try/helm.sh fetches it")
Resource = Mapping[str, Any]


@cache
def _rendered(name: str) -> Sequence[Resource]:
    text = _template("--values", str(VALUES[name])).stdout
    return [each for each in yaml.load_all(text, Loader=yaml.CSafeLoader) if each]


def _template(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(HELM), "template", "stb", str(CHART), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _given(folder: Path, values: Mapping[str, Any]) -> dict[tuple[str, str], Resource]:
    """Render the chart with these values; returns what it makes by kind and name."""
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    made = yaml.load_all(_template("--values", str(file)).stdout, Loader=yaml.CSafeLoader)
    return {(each["kind"], each["metadata"]["name"]): each for each in made if each}


def _environment(deployment: Resource) -> dict[str, str]:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return {each["name"]: each["value"] for each in container["env"]}


def _mounts(deployment: Resource) -> dict[str, str]:
    """Return the claims that a deployment's container has mounted, by path."""
    pod = deployment["spec"]["template"]["spec"]
    claims = {each["name"]: each.get("persistentVolumeClaim", {}).get("claimName") for each in pod["volumes"]}
    return {each["mountPath"]: claims[each["name"]] for each in pod["containers"][0]["volumeMounts"]}


def _of_kind(name: str, kind: str) -> dict[str, Resource]:
    return {each["metadata"]["name"]: each for each in _rendered(name) if each["kind"] == kind}


def _pods(name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for kind in ("Deployment", "Job"):
        for each in _of_kind(name, kind).values():
            yield each["metadata"]["name"], each["spec"]["template"]["spec"]


def _named(rules: Sequence[Mapping[str, Any]], side: str) -> set[str]:
    """Return the services that rules of a policy name by their pods' label."""
    peers = [peer for rule in rules for peer in rule.get(side, ())]
    labels = [peer["podSelector"]["matchLabels"] for peer in peers if "podSelector" in peer]
    return {each[f"{LABELS}name"] for each in labels if f"{LABELS}name" in each} - {"triton"}


@pytest.fixture(params=VALUES)
def values(request: pytest.FixtureRequest) -> str:
    return request.param


class TestRegistry:
    def test_the_charts_own_list_is_that_of_the_services(self):
        listed = json.loads((CHART / "files" / "registry.json").read_text())
        assert listed == {entry.name: _expected(entry) for entry in SERVICES}

    def test_each_service_and_each_worker_is_a_deployment(self, values: str):
        found = set(_of_kind(values, "Deployment")) - {"stb-triton"}
        assert found == {f"stb-{entry.name}" for entry in SERVICES} | {
            f"stb-{entry.name}-worker" for entry in SERVICES if entry.has_worker
        }
        assert set(_of_kind(values, "PodDisruptionBudget")) == found

    def test_each_schema_is_migrated_by_a_hook_before_the_new_pods_of_an_upgrade(self, values: str):
        jobs = _of_kind(values, "Job")
        assert set(jobs) == {"stb-provision"} | {f"stb-{entry.name}-migrate" for entry in SERVICES if entry.schema}
        hooks = {each["metadata"]["annotations"]["helm.sh/hook"] for each in jobs.values()}
        assert hooks == {"post-install,pre-upgrade" if _of_kind(values, "Cluster") else "pre-install,pre-upgrade"}
        weights = {name: int(each["metadata"]["annotations"]["helm.sh/hook-weight"]) for name, each in jobs.items()}
        assert all(weights["stb-provision"] < weight for name, weight in weights.items() if name != "stb-provision")

    def test_settings_in_the_environment_are_settings_of_the_service(self, values: str):
        for name, deployment in _of_kind(values, "Deployment").items():
            if name == "stb-triton":
                continue
            entry = get_service(name.removeprefix("stb-").removesuffix("-worker"))
            (container,) = deployment["spec"]["template"]["spec"]["containers"]
            known = {
                f"{entry.environment_prefix}{each.upper()}" for each in load_service(entry.name).settings.model_fields
            }
            given = {each["name"] for each in container["env"] if each["name"].startswith(entry.environment_prefix)}
            assert given <= known, name


def _expected(entry: ServiceEntry) -> dict[str, Any]:
    fields = load_service(entry.name).settings.model_fields
    return {
        "schema": entry.schema is not None,
        "worker": entry.has_worker,
        "calls": list(entry.calls),
        "outside": any(each in entry.calls_outside for each in ("subscribers", "teams' bots")),
        "vault": "secrets_key" in fields,
        "models": "models_folder" in fields,
        "triton": "Triton" in entry.calls_outside,
    }


class TestNetworkPolicies:
    @pytest.mark.parametrize("entry", SERVICES, ids=lambda entry: entry.name)
    def test_allow_the_arrows_of_the_services_and_no_others(self, values: str, entry: ServiceEntry):
        policy = _of_kind(values, "NetworkPolicy")[f"stb-{entry.name}"]["spec"]
        assert policy["policyTypes"] == ["Ingress", "Egress"]
        assert _named(policy["egress"], "to") == set(entry.calls)
        assert _named(policy["ingress"], "from") == {each.name for each in SERVICES if entry.name in each.calls}
        outside = any("ipBlock" in peer and peer["ipBlock"]["cidr"] == "0.0.0.0/0" for peer in _peers(policy))
        assert outside is _expected(entry)["outside"]
        assert all(rule.get("to") or values == "gpu" for rule in policy["egress"])  # there the database may be anywhere

    def test_let_nothing_in_or_out_beside(self, values: str):
        nothing = _of_kind(values, "NetworkPolicy")["stb-nothing"]["spec"]
        assert nothing["policyTypes"] == ["Ingress", "Egress"]
        assert "ingress" not in nothing
        assert "egress" not in nothing
        selected = nothing["podSelector"]["matchLabels"].items()
        for kind in ("Deployment", "Job"):
            for each in _of_kind(values, kind).values():
                assert selected <= each["spec"]["template"]["metadata"]["labels"].items()

    def test_keep_bots_and_subscribers_from_being_addresses_of_the_cluster(self, values: str):
        policy = _of_kind(values, "NetworkPolicy")["stb-bots"]["spec"]
        blocks = [peer["ipBlock"] for peer in _peers(policy) if "ipBlock" in peer]
        (everywhere,) = [block for block in blocks if block["cidr"] == "0.0.0.0/0"]
        assert {"10.0.0.0/8", "169.254.0.0/16"} <= set(everywhere["except"])

    def test_let_the_ingress_reach_what_has_a_public_host_alone(self):
        reached = {
            name
            for name, policy in _of_kind("campaign", "NetworkPolicy").items()
            if "ingress-nginx" in json.dumps(policy["spec"].get("ingress", []))
        }
        assert reached == {"stb-web", "stb-bots", "stb-conversations"}


def _peers(policy: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [peer for rule in policy["egress"] for peer in rule.get("to", ())]


class TestPods:
    def test_run_without_privileges_on_a_file_system_that_they_can_not_write(self, values: str):
        for name, pod in _pods(values):
            assert pod["automountServiceAccountToken"] is False, name
            assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001), name
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
            for container in pod["containers"]:
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                }, name
                assert "memory" in container["resources"]["limits"], name

    def test_are_probed_each_in_its_way(self, values: str):
        for name, deployment in _of_kind(values, "Deployment").items():
            (container,) = deployment["spec"]["template"]["spec"]["containers"]
            assert {"startupProbe", "livenessProbe"} <= container.keys(), name
            assert ("readinessProbe" in container) is not name.endswith("-worker"), name
            if name.endswith("-worker"):
                assert any(each["name"].endswith("_HEARTBEAT_FILE") for each in container["env"]), name

    def test_get_their_own_secrets_alone(self, values: str):
        for name, pod in _pods(values):
            if name in {"stb-provision", "stb-triton"}:
                continue
            service = name.removeprefix("stb-").removesuffix("-worker").removesuffix("-migrate").upper()
            (secrets,) = [each["projected"] for each in pod["volumes"] if each["name"] == "secrets"]
            keys = {item["key"] for source in secrets["sources"] for item in source["secret"]["items"]}
            shared = {"SPOTTHEBOT_SERVICE_KEY", "SPOTTHEBOT_ANNOTATION_KEY"}
            assert [key for key in keys - shared if not key.startswith(f"SPOTTHEBOT_{service}_")] == [], name
            is_owner = f"SPOTTHEBOT_{service}_OWNER_DATABASE_URL" in keys
            assert is_owner is name.endswith("-migrate"), name


class TestScaling:
    def test_follows_queues_that_there_are(self):
        queues = {"conversations": "runners", "annotation": "default", "analytics": "default", "fed": "default"}
        scaled = _of_kind("gpu", "HorizontalPodAutoscaler")
        for service, queue in queues.items():
            (metric,) = scaled[f"stb-{service}-worker"]["spec"]["metrics"]
            assert metric["external"]["metric"] == {
                "name": "spotthebot_queue_waiting",
                "selector": {"matchLabels": {"service": service, "queue": queue}},
            }
        assert all("replicas" not in each["spec"] for each in _of_kind("gpu", "Deployment").values())

    def test_leaves_services_alone_whose_models_lie_in_a_folder_of_their_pod(self):
        scaled = _of_kind("campaign", "HorizontalPodAutoscaler")
        assert {"stb-bots", "stb-fed", "stb-fed-worker"}.isdisjoint(scaled)
        assert {"stb-web", "stb-annotation-worker"} <= scaled.keys()
        assert {"stb-bots", "stb-fed", "stb-fed-worker"} <= _of_kind("gpu", "HorizontalPodAutoscaler").keys()
        for name, deployment in _of_kind("campaign", "Deployment").items():
            assert deployment["spec"].get("replicas") == (None if name in scaled else 1), name

    @pytest.mark.parametrize("replicas", ["services.bots.replicas", "services.fed.worker.replicas"])
    def test_refuses_a_second_pod_whose_models_the_first_does_not_see(self, replicas: str):
        done = _template("--set", f"{replicas}=2")
        assert done.returncode != 0
        assert f"{replicas} is 2: its models lie in a folder of each pod; name a claim" in done.stderr
        assert _template("--set", f"{replicas}=2", "--set", "models.existingClaim=models").returncode == 0

    def test_follows_tritons_queue(self):
        (metric,) = _of_kind("gpu", "HorizontalPodAutoscaler")["stb-triton"]["spec"]["metrics"]
        adapter = (ROOT / "deploy" / "helm" / "examples" / "prometheus-adapter.yaml").read_text()
        assert f"as: {metric['external']['metric']['name']}" in adapter


class TestTriton:
    def test_has_the_repository_and_the_models_that_bots_writes(self):
        triton, bots = (_of_kind("gpu", "Deployment")[f"stb-{name}"] for name in ("triton", "bots"))
        environment = _environment(bots)
        repository = environment["SPOTTHEBOT_BOTS_TRITON_REPOSITORY"]
        assert f'"--model-repository={repository}"' in (ROOT / "docker" / "triton.Dockerfile").read_text()
        claims = {repository: "model-repository", environment["SPOTTHEBOT_BOTS_MODELS_FOLDER"]: "models"}
        for deployment in (triton, bots):
            assert {path: claim for path, claim in _mounts(deployment).items() if claim} == claims
        assert environment["SPOTTHEBOT_BOTS_TRITON_GRPC"] == "stb-triton:8001"
        assert environment["SPOTTHEBOT_BOTS_TRITON_HTTP"] == "http://stb-triton:8000"

    def test_is_refused_without_claims_that_bots_can_write(self):
        done = _template("--set", "triton.enabled=true", "--set", "models.existingClaim=models")
        assert done.returncode != 0
        assert "triton.enabled needs triton.modelsClaim and models.existingClaim" in done.stderr

    def test_is_scraped_at_its_own_port_and_not_as_a_service(self, tmp_path: Path):
        values = yaml.safe_load(VALUES["gpu"].read_text()) | {"podMonitor": {"enabled": True}}
        made = _given(tmp_path, values)
        services, triton = (made["PodMonitor", name]["spec"] for name in ("stb", "stb-triton"))
        labels = made["Deployment", "stb-triton"]["spec"]["template"]["metadata"]["labels"]
        assert services["selector"]["matchExpressions"] == [
            {"key": f"{LABELS}name", "operator": "NotIn", "values": [labels[f"{LABELS}name"]]}
        ]
        assert triton["selector"]["matchLabels"].items() <= labels.items()
        assert labels[triton["jobLabel"]] == "triton"
        (endpoint,) = triton["podMetricsEndpoints"]
        (container,) = made["Deployment", "stb-triton"]["spec"]["template"]["spec"]["containers"]
        (port,) = [each["containerPort"] for each in container["ports"] if each["name"] == endpoint["port"]]
        allowed = made["NetworkPolicy", "stb-triton"]["spec"]["ingress"]
        (scrapes,) = [rule["from"] for rule in allowed if {"port": port, "protocol": "TCP"} in rule["ports"]]
        assert scrapes == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]

    @pytest.mark.parametrize("networks", [[], ["10.30.0.0/16"]])
    def test_elsewhere_may_be_called(self, networks: list[str], tmp_path: Path):
        made = _given(tmp_path, {"triton": {"address": "triton.gpu:9001", "networks": networks}})
        expected = {"ports": [{"port": 9001, "protocol": "TCP"}]}
        if networks:
            expected["to"] = [{"ipBlock": {"cidr": each}} for each in networks]
        for entry in SERVICES:
            egress = made["NetworkPolicy", f"stb-{entry.name}"]["spec"]["egress"]
            assert (expected in egress) is _expected(entry)["triton"], entry.name


class TestSignIn:
    def test_by_a_provider_gives_the_pages_its_secrets_and_a_way_to_it(self, tmp_path: Path):
        settings = {"OIDC_ISSUER": "https://id.example.org", "OIDC_CLIENT_ID": "pages"}
        made = _given(tmp_path, {"services": {"web": {"settings": settings}}})
        pod = made["Deployment", "stb-web"]["spec"]["template"]["spec"]
        (secrets,) = [each["projected"]["sources"] for each in pod["volumes"] if each["name"] == "secrets"]
        keys = {
            item["key"]: each["secret"].get("optional", False) for each in secrets for item in each["secret"]["items"]
        }
        assert keys["SPOTTHEBOT_WEB_OIDC_KEYS"] is False
        assert keys["SPOTTHEBOT_WEB_OIDC_CLIENT_SECRET"] is True
        peers = _peers(made["NetworkPolicy", "stb-web"]["spec"])
        assert any(peer.get("ipBlock", {}).get("cidr") == "0.0.0.0/0" for peer in peers)
        assert _template("--set", "services.web.settings.OIDC_KEYS=stb").returncode != 0


class TestValues:
    def test_reach_services_as_they_are_written(self, tmp_path: Path):
        settings = {"A": 1048576, "B": 30_000_000_000, "C": 0.25, "D": True, "E": "word", "F": 0}
        made = _given(tmp_path, {"services": {"web": {"settings": settings}}})
        given = _environment(made["Deployment", "stb-web"])
        assert {each: given[f"SPOTTHEBOT_WEB_{each}"] for each in settings} == {
            "A": "1048576",
            "B": "30000000000",
            "C": "0.25",
            "D": "true",
            "E": "word",
            "F": "0",
        }

    @pytest.mark.skipif(find_spec("kubernetes_validate") is None, reason="kubernetes-validate is missing: pip install")
    def test_make_what_kubernetes_schemas_allow(self, values: str):
        schemas = import_module("kubernetes_validate")
        for each in _rendered(values):
            if each["kind"] not in CUSTOM:
                schemas.validate(each, KUBERNETES, strict=True)

    @pytest.mark.parametrize(
        ("setting", "named"),
        [
            ("services.web.replica=2", "replica"),
            ("services.bots.settings.DATABASE_URL=postgresql://a:secret@b", "DATABASE_URL"),
            ("database.kind=mysql", "kind"),
            ("triton.address=nowhere", "address"),
            ("tracing.sampleRatio=2", "sampleRatio"),
        ],
    )
    def test_are_refused_by_their_schema_where_they_are_none(self, setting: str, named: str):
        done = _template("--set", setting)
        assert done.returncode != 0
        assert named in done.stderr
