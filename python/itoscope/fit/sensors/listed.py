"""All sensors that are more than an expression of the states in a moment."""

from __future__ import annotations

from itoscope.fit.sensors.angles import Angle
from itoscope.fit.sensors.kinds import Acceleration, Average

__all__ = ["Sensor"]

Sensor = Average | Acceleration | Angle
