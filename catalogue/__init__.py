"""Facts as data: machines, accelerators, prices, regions, images, charts and models, each row with its source and date.

The tables are CSV files under data/. Adding a machine is adding a row; each table is read at its first look-up.
"""

from __future__ import annotations

from gpuyard.catalogue.artifacts import Chart, Image, chart, charts, image, images
from gpuyard.catalogue.checkpoints import Model, model, models
from gpuyard.catalogue.hardware import Accelerator, Machine, accelerator, accelerators, machine, machines
from gpuyard.catalogue.places import Region, region, regions
from gpuyard.catalogue.pricing import Price, price, prices
from gpuyard.catalogue.tables import Unknown

__all__ = [
    "Accelerator",
    "Chart",
    "Image",
    "Machine",
    "Model",
    "Price",
    "Region",
    "Unknown",
    "accelerator",
    "accelerators",
    "chart",
    "charts",
    "image",
    "images",
    "machine",
    "machines",
    "model",
    "models",
    "price",
    "prices",
    "region",
    "regions",
]
