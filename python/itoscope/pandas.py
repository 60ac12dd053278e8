"""`import itoscope.pandas`: frames and series of pandas have `.ito`."""

from itoscope.common.extras import require
from itoscope.discovery.accessor import Accessor

__all__ = ["Accessor"]

_extensions = require("pandas.api.extensions", "data", "The accessor of pandas")
_extensions.register_dataframe_accessor("ito")(Accessor)
_extensions.register_series_accessor("ito")(Accessor)
