"""The compiled backend: each stage is one call into `itoscope._core`."""
