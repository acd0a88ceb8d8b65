"""Every inquiry that the window makes; one file each, imported once there is something to ask."""

from __future__ import annotations

from visualizer.inquiries.base import Inquiry


def all_inquiries() -> tuple[type[Inquiry], ...]:
    """The classes of all inquiries."""
    from visualizer.inquiries.audit import AuditInquiry
    from visualizer.inquiries.difference import DifferenceInquiry
    from visualizer.inquiries.gradients import GradientsInquiry
    from visualizer.inquiries.hypothesis import HypothesisInquiry
    from visualizer.inquiries.lab import (
        CheckInquiry,
        EstimateInquiry,
        FactsInquiry,
        FilmInquiry,
        LookInquiry,
        TimingInquiry,
    )
    from visualizer.inquiries.lens import LensInquiry
    from visualizer.inquiries.paths import PathsInquiry
    from visualizer.inquiries.step import MistakeInquiry, StepCheckInquiry, StepInquiry

    return (
        GradientsInquiry,
        LensInquiry,
        AuditInquiry,
        DifferenceInquiry,
        PathsInquiry,
        HypothesisInquiry,
        StepInquiry,
        StepCheckInquiry,
        MistakeInquiry,
        LookInquiry,
        FactsInquiry,
        EstimateInquiry,
        FilmInquiry,
        CheckInquiry,
        TimingInquiry,
    )
