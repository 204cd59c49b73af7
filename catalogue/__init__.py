"""Facts as data: machines, accelerators, prices, regions, images, charts and models, each row with its source and date.

The tables are CSV files under data/. Adding a machine is adding a row; each table is read at its first look-up.
"""

from __future__ import annotations

from gpuyard.catalogue.account_quotas import Quota, quotas, quotas_of
from gpuyard.catalogue.artifacts import Chart, Image, chart, charts, image, images
from gpuyard.catalogue.checkpoints import Model, model, models
from gpuyard.catalogue.collectives import (
    NetworkLayers,
    Setting,
    all_network_layers,
    nccl,
    nccl_settings,
    network_layers,
)
from gpuyard.catalogue.compatibility import (
    ImageRuntime,
    Verdict,
    image_runtimes,
    runs_on,
    runtime_of_image,
)
from gpuyard.catalogue.hardware import Accelerator, Machine, accelerator, accelerators, machine, machines
from gpuyard.catalogue.interconnect import Fabric, fabric, fabrics
from gpuyard.catalogue.node_images import NodeImage, eks_image, eks_images, node_driver
from gpuyard.catalogue.partitioning import Partition, all_partitions, partitions
from gpuyard.catalogue.places import Region, region, regions
from gpuyard.catalogue.pricing import Price, ServicePrice, price, prices, service_price, service_prices
from gpuyard.catalogue.products import Product, attached_accelerator, product, products
from gpuyard.catalogue.security import Floor, floors
from gpuyard.catalogue.support import EksVersion, eks_version, eks_versions
from gpuyard.catalogue.tables import Malformed, Unknown
from gpuyard.catalogue.topology import Slice, all_slices, slices

__all__ = [
    "Accelerator",
    "Chart",
    "EksVersion",
    "Fabric",
    "Floor",
    "Image",
    "ImageRuntime",
    "Machine",
    "Malformed",
    "Model",
    "NetworkLayers",
    "NodeImage",
    "Partition",
    "Price",
    "Product",
    "Quota",
    "Region",
    "ServicePrice",
    "Setting",
    "Slice",
    "Unknown",
    "Verdict",
    "accelerator",
    "accelerators",
    "all_network_layers",
    "all_partitions",
    "all_slices",
    "attached_accelerator",
    "chart",
    "charts",
    "eks_image",
    "eks_images",
    "eks_version",
    "eks_versions",
    "fabric",
    "fabrics",
    "floors",
    "image",
    "image_runtimes",
    "images",
    "machine",
    "machines",
    "model",
    "models",
    "nccl",
    "nccl_settings",
    "network_layers",
    "node_driver",
    "partitions",
    "price",
    "prices",
    "product",
    "products",
    "quotas",
    "quotas_of",
    "region",
    "regions",
    "runs_on",
    "runtime_of_image",
    "service_price",
    "service_prices",
    "slices",
]
