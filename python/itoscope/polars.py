"""`import itoscope.polars`: frames and series of polars have `.ito`."""

from itoscope.common.extras import require
from itoscope.discovery.accessor import Accessor

__all__ = ["Accessor"]

_api = require("polars.api", "polars", "The accessor of polars")
_api.register_dataframe_namespace("ito")(Accessor)
_api.register_series_namespace("ito")(Accessor)
