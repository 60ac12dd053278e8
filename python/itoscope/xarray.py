"""`import itoscope.xarray`: arrays and data sets of xarray have `.ito`."""

from itoscope.common.extras import require
from itoscope.discovery.accessor import Accessor

__all__ = ["Accessor"]

_xarray = require("xarray", "data", "The accessor of xarray")
_xarray.register_dataarray_accessor("ito")(Accessor)
_xarray.register_dataset_accessor("ito")(Accessor)
