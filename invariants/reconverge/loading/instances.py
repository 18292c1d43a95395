"""What is left for pods on the common machine types of EKS, GKE and AKS.

EKS: a kubelet there reserves 255 MiB and 11 MiB per pod, and evicts below 100 MiB; Karpenter takes 7.5 % of the
memory for what the machine itself keeps. Pods per node are what the network interfaces have addresses for.
GKE and AKS publish their reservations. Source: amazon-eks-ami `bootstrap.sh` and `eni-max-pods.txt`, Karpenter
"Instance Types", GKE "Plan node sizes", AKS "Node resource reservations".
"""

from __future__ import annotations

import math
import re

from attrs import frozen

from reconverge.model.resources import Capacity, Resources

MIB = 2**20
GPU = "nvidia.com/gpu"


@frozen
class Instance:
    """A machine type: what it has, before anything is reserved. Memory in MiB."""

    name: str
    cpu: int
    memory: int
    pods: int
    arch: str = "amd64"
    gpus: int = 0
    provider: str = "eks"

    def allocatable(self, pods: int | None = None) -> Capacity:
        """What pods can have, for at most `pods` pods (default: what the provider allows)."""
        most = self.pods if pods is None else pods
        milli = self.cpu * 1000 - _reserved_milli(self.cpu, self.provider)
        memory = self.memory - _MEMORY[self.provider](self, most)
        return Capacity(Resources(milli, memory * MIB, 0, ((GPU, self.gpus),) if self.gpus else ()), most)


def _tiers(amount: float, tiers: tuple[tuple[float, float], ...]) -> float:
    """The sum of a share of each slice of an amount; a tier is (size of the slice, share)."""
    total = 0.0
    for size, share in tiers:
        total += min(amount, size) * share
        amount -= min(amount, size)
    return total


_CPU_TIERS = ((1, 60), (1, 10), (2, 5), (math.inf, 2.5))
_AKS_MILLI = ((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740))
_GKE_MEMORY = ((4096, 0.25), (4096, 0.20), (8192, 0.10), (114688, 0.06), (math.inf, 0.02))


def _reserved_milli(cpu: int, provider: str) -> int:
    if provider == "aks":
        return next((milli for cores, milli in _AKS_MILLI if cpu <= cores), _AKS_MILLI[-1][1])
    return math.ceil(_tiers(cpu, _CPU_TIERS))


def _eks_memory(instance: Instance, pods: int) -> int:
    kept = 64 if instance.arch == "arm64" else 0
    return kept + math.ceil((instance.memory - kept) * 0.075) + 255 + 11 * pods + 100


def _gke_memory(instance: Instance, pods: int) -> int:
    return math.ceil(_tiers(instance.memory, _GKE_MEMORY)) + 100


def _aks_memory(instance: Instance, pods: int) -> int:
    return min(20 * pods + 50, instance.memory // 4) + 100


_MEMORY = {"eks": _eks_memory, "gke": _gke_memory, "aks": _aks_memory}

# Size: (CPUs, network interfaces, addresses per interface), the same for all families on the Nitro system but a few.
_SIZES = {
    "medium": (1, 2, 4),
    "large": (2, 3, 10),
    "xlarge": (4, 4, 15),
    "2xlarge": (8, 4, 15),
    "4xlarge": (16, 8, 30),
    "8xlarge": (32, 8, 30),
    "9xlarge": (36, 8, 30),
    "12xlarge": (48, 8, 30),
    "16xlarge": (64, 15, 50),
    "18xlarge": (72, 15, 50),
    "24xlarge": (96, 15, 50),
    "32xlarge": (128, 15, 50),
    "48xlarge": (192, 15, 50),
}
_SMALL = "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge"
_ARM, _ARM8 = f"medium {_SMALL}", f"medium {_SMALL} 24xlarge 48xlarge"
_GENERATIONS = {
    "5": f"{_SMALL} 24xlarge",
    "5a": f"{_SMALL} 24xlarge",
    "5d": f"{_SMALL} 24xlarge",
    "5ad": f"{_SMALL} 24xlarge",
    "6i": f"{_SMALL} 24xlarge 32xlarge",
    "6id": f"{_SMALL} 24xlarge 32xlarge",
    "6a": f"{_SMALL} 24xlarge 32xlarge 48xlarge",
    "6g": _ARM,
    "6gd": _ARM,
    "7i": f"{_SMALL} 24xlarge 48xlarge",
    "7a": f"{_ARM} 24xlarge 32xlarge 48xlarge",
    "7g": _ARM,
    "7gd": _ARM,
    "8g": _ARM8,
}
_GIB_PER_CPU = {"c": 2, "m": 4, "r": 8}
_OTHER_SIZES = {"c5": "large xlarge 2xlarge 4xlarge 9xlarge 12xlarge 18xlarge 24xlarge"}
_OTHER_SIZES["c5d"] = _OTHER_SIZES["c5"]

# Burstable size: (CPUs, MiB, interfaces, addresses per interface).
_BURSTABLE = {
    "nano": (2, 512, 2, 2),
    "micro": (2, 1024, 2, 2),
    "small": (2, 2048, 3, 4),
    "medium": (2, 4096, 3, 6),
    "large": (2, 8192, 3, 12),
    "xlarge": (4, 16384, 4, 15),
    "2xlarge": (8, 32768, 4, 15),
}
_BURSTABLE_OTHER = {"t3a.small": (2, 2048, 2, 4), "t2.micro": (1, 1024, 2, 2), "t2.small": (1, 2048, 3, 4)}
_BURSTABLE_OTHER |= {"t2.nano": (1, 512, 2, 2), "t2.xlarge": (4, 16384, 3, 15), "t2.2xlarge": (8, 32768, 3, 15)}

# Families from before the Nitro system, by size: (CPUs, MiB, pods).
_OLD_SIZES = {"large": (2, 29), "xlarge": (4, 58), "2xlarge": (8, 58), "4xlarge": (16, 234), "8xlarge": (32, 234)}
_OLD_MIB_PER_CPU = {"c3": 1920, "c4": 1920, "i3": 7808, "m4": 4096, "r4": 7808}
_OLD_OTHER = {"m4.large": (2, 8192, 20), "m4.10xlarge": (40, 163840, 234), "m4.16xlarge": (64, 262144, 234)}
_OLD_OTHER |= {"c4.8xlarge": (36, 61440, 234), "i3.16xlarge": (64, 499712, 737), "r4.16xlarge": (64, 499712, 737)}

# Accelerated: (CPUs, GiB, pods, GPUs).
_ACCELERATED = {
    "g4dn.xlarge": (4, 16, 29, 1),
    "g4dn.2xlarge": (8, 32, 29, 1),
    "g4dn.4xlarge": (16, 64, 29, 1),
    "g4dn.12xlarge": (48, 192, 234, 4),
    "g5.xlarge": (4, 16, 58, 1),
    "g5.2xlarge": (8, 32, 58, 1),
    "g5.4xlarge": (16, 64, 234, 1),
    "g5.12xlarge": (48, 192, 737, 4),
    "g6.xlarge": (4, 16, 58, 1),
    "g6.2xlarge": (8, 32, 58, 1),
    "g6.4xlarge": (16, 64, 234, 1),
    "g6.12xlarge": (48, 192, 234, 4),
}


def _pods(interfaces: int, addresses: int) -> int:
    """One address of each interface is its own; two more pods run on the host's network."""
    return interfaces * (addresses - 1) + 2


def _eks_table() -> dict[str, Instance]:
    found: list[Instance] = []
    for letter, gib in _GIB_PER_CPU.items():
        for generation, sizes in _GENERATIONS.items():
            family = letter + generation
            arch = "arm64" if "g" in generation else "amd64"
            for size in _OTHER_SIZES.get(family, sizes).split():
                cpu, *network = _SIZES[size]
                found.append(Instance(f"{family}.{size}", cpu, cpu * gib * 1024, _pods(*network), arch))
    for family in ("t2", "t3", "t3a", "t4g"):
        for size, usual in _BURSTABLE.items():
            cpu, mib, *network = _BURSTABLE_OTHER.get(f"{family}.{size}", usual)
            arch = "arm64" if family == "t4g" else "amd64"
            found.append(Instance(f"{family}.{size}", cpu, mib, _pods(*network), arch))
    for family, mib in _OLD_MIB_PER_CPU.items():
        by_size = {f"{family}.{size}": (cpu, cpu * mib, pods) for size, (cpu, pods) in _OLD_SIZES.items()}
        found += [Instance(name, *each) for name, each in by_size.items() if name not in ("m4.8xlarge", *_OLD_OTHER)]
    found += [Instance(name, *each) for name, each in _OLD_OTHER.items()]
    found += [Instance(name, cpu, gib * 1024, pods, gpus=gpus) for name, (cpu, gib, pods, gpus) in _ACCELERATED.items()]
    return {each.name: each for each in found}


EKS = _eks_table()

_GKE_NAME = re.compile(r"(e2|n1|n2|n2d|n4|c3|c3d|t2d|t2a)-(standard|highmem|highcpu)-([0-9]+)")
_GKE_MIB = {"standard": 4096, "highmem": 8192, "highcpu": 1024}
_GKE_OTHER_MIB = {("n1", "standard"): 3840, ("n1", "highmem"): 6656, ("n1", "highcpu"): 922}
_GKE_OTHER_MIB |= {(family, "highcpu"): 2048 for family in ("c3", "c3d", "n4")}
_AKS_NAME = re.compile(r"standard_([def])([0-9]+)[a-z]*_v[0-9]", re.IGNORECASE)
_AKS_GIB = {"d": 4, "e": 8, "f": 2}


def instance(name: str) -> Instance | None:
    """The machine type of that name, or None. Names of GKE and AKS say what the machine has."""
    if name in EKS:
        return EKS[name]
    match = _GKE_NAME.fullmatch(name)
    if match:
        family, kind, cpu = match[1], match[2], int(match[3])
        mib = _GKE_OTHER_MIB.get((family, kind), _GKE_MIB[kind])
        arch = "arm64" if family == "t2a" else "amd64"
        return Instance(name, cpu, cpu * mib, 110, arch, provider="gke")
    match = _AKS_NAME.fullmatch(name)
    if match:
        cpu = int(match[2])
        return Instance(name, cpu, cpu * _AKS_GIB[match[1].lower()] * 1024, 110, provider="aks")
    return None
