"""Adds packages behind those of the environment: what the environment has itself is taken from there."""

import os
import sys

sys.path.append(os.environ["PACKAGES_BEHIND"])
