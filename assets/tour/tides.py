"""Heights of the tide from harmonic constants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Constituent:
    """One harmonic part of the tide."""

    name: str
    speed_deg_per_hour: float
    amplitude_m: float
    phase_deg: float


SEMIDIURNAL = Constituent("M2", 28.9841042, 1.62, 114.0)
SOLAR = Constituent("S2", 30.0, 0.55, 151.0)
DIURNAL = Constituent("K1", 15.0410686, 0.11, 20.0)


class TideTable:
    """The constituents of one harbour, above its mean level."""

    def __init__(self, mean_m: float, parts: tuple[Constituent, ...]) -> None:
        self.mean_m = mean_m
        self.parts = parts

    def height_m(self, at: datetime, epoch: datetime) -> float:
        """Height above chart datum in metres."""
        hours = (at - epoch).total_seconds() / 3600
        total = self.mean_m
        for part in self.parts:
            angle = math.radians(part.speed_deg_per_hour * hours - part.phase_deg)
            total += part.amplitude_m * math.cos(angle)
        return round(total, 2)

    def next_turn(self, start: datetime, epoch: datetime) -> datetime:
        """The next moment at which the tide turns, to the minute."""
        step = timedelta(minutes=1)
        before, now = self.height_m(start, epoch), self.height_m(start + step, epoch)
        is_rising = now > before
        at = start + step
        while (self.height_m(at + step, epoch) > now) == is_rising:
            at += step
            now = self.height_m(at, epoch)
        return at
