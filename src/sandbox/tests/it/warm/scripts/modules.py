"""What is there after imports in an order that is not the server's."""

import sys

import joblib
print(len(sys.modules), "numpy" in sys.modules, "pandas" in sys.modules)
from sklearn.linear_model import Ridge
import scipy.stats
import json, socket, subprocess, asyncio, decimal, logging, signal, enum, ctypes, importlib
print(sorted(sys.modules))
import pandas
print(len(sys.modules))
import sklearn.neural_network, scipy.interpolate, unittest, sqlite3
print(sorted(sys.modules))
for name, module in sorted(sys.modules.items()):
    print(name, getattr(module, "__file__", None), getattr(getattr(module, "__spec__", None), "name", None))
    parent, _, leaf = name.rpartition(".")
    if parent in sys.modules:
        print(hasattr(sys.modules[parent], leaf))
