# SPDX-License-Identifier: MIT
"""The commands of tools/ as modules, for tests of their parts."""

import importlib.machinery
import importlib.util
from types import ModuleType

from assay import ROOT


def load_command(name: str) -> ModuleType:
    """tools/NAME: a command's file has no suffix, so that import does not find it."""
    loader = importlib.machinery.SourceFileLoader(f"{name}_command", str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
