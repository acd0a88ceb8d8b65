"""The lab's view of a file of pairs: how it is read, its first pairs, what was left out and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from visualizer import fonts, lab_actions
from visualizer.i18n import tr
from visualizer.lab import FileImport
from visualizer.lenses.lab_file import (
    encodings,
    formats,
    report_lines,
    separators,
    title,
    wish,
)
from visualizer.lenses.lab_picture import Sample
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.controls import SectionHead, card, push_button
from visualizer.widgets.lab_tables import SampleTable

ASIDE = 23.0
Named = tuple[tuple[Any, str], ...]


class Picker(QComboBox):
    """A list of named values; picked(value) when the user takes one."""

    picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: tuple[Any, ...] = ()
        self._options: Named = ()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.activated.connect(lambda place: self.picked.emit(self._values[place]))

    def set_options(self, options: Named, current: Any) -> None:
        """options: (value, words) of each"""
        if options != self._options:
            self._options, self._values = options, tuple(value for value, _ in options)
            self.clear()
            self.addItems([words for _, words in options])
        self.setCurrentIndex(self._values.index(current) if current in self._values else -1)
        self.setEnabled(len(options) > 1)


class FilePart(QWidget):
    """fileWanted() when the user wants to pick another file."""

    fileWanted = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        em = fonts.em(self.font())
        self.heading, self.facts = QLabel(), QLabel()
        self.heading.setFont(fonts.scaled(self.font(), fonts.TITLE, bold=True))
        self.facts.setProperty("role", "muted")
        self.warning = QLabel()
        self.warning.setProperty("role", "warning")
        self.warning.setWordWrap(True)
        self.encoding, self.format, self.separator = Picker(), Picker(), Picker()
        self.source, self.target, self.header = Picker(), Picker(), Picker()
        self.swap, self.other = push_button(), push_button()
        self.back, self.go_on = push_button(), push_button(kind="primary")
        self.rows_head, self.report_head = SectionHead(), SectionHead()
        self.rows = SampleTable()
        self.report = QLabel()
        self.report.setWordWrap(True)
        self.report.setTextFormat(Qt.TextFormat.PlainText)
        self.report.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.report.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.labels = tuple(QLabel() for _ in range(6))
        for label in self.labels:
            label.setProperty("role", "muted")
        for canvas in (self.rows_head, self.report_head, self.rows):
            canvas.set_ground("surface")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, round(0.3 * em), 0, round(0.5 * em))
        column.setSpacing(round(0.6 * em))
        head = QHBoxLayout()
        head.setSpacing(round(0.8 * em))
        head.addWidget(self.heading)
        head.addWidget(self.facts, 1)
        head.addWidget(self.other)
        column.addLayout(head)
        column.addWidget(self.warning)
        both = QHBoxLayout()
        both.setSpacing(round(0.9 * em))
        both.addWidget(self._made_aside(em))
        both.addWidget(self._made_pairs(em), 1)
        column.addLayout(both, 1)
        for picker, name in (
            (self.format, "format"),
            (self.separator, "separator"),
            (self.encoding, "encoding"),
            (self.header, "header"),
            (self.source, "source"),
            (self.target, "target"),
        ):
            picker.picked.connect(self._setting(name))
        self.swap.clicked.connect(self._on_swap)
        self.other.clicked.connect(self.fileWanted)
        self.back.clicked.connect(self._on_back)
        self.go_on.clicked.connect(self._on_go_on)

    def _made_aside(self, em: float) -> QWidget:
        frame, inside = card(self)
        frame.setFixedWidth(round(ASIDE * em))
        form = QFormLayout()
        form.setSpacing(round(0.5 * em))
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        fields = (
            self.encoding,
            self.format,
            self.separator,
            self.header,
            self.source,
            self.target,
        )
        for label, field in zip(self.labels, fields, strict=True):
            label.setBuddy(field)
            form.addRow(label, field)
        inside.addLayout(form)
        inside.addWidget(self.swap)
        inside.addStretch(1)
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addWidget(self.go_on, 1)
        inside.addLayout(row)
        return frame

    def _made_pairs(self, em: float) -> QWidget:
        frame, inside = card(self)
        inside.setSpacing(round(0.4 * em))
        inside.addWidget(self.rows_head)
        self.rows.setMinimumHeight(round(9.2 * em))
        self.rows.setMaximumHeight(round(9.2 * em))
        inside.addWidget(self.rows)
        inside.addWidget(self.report_head)
        inside.addWidget(self.report, 1)
        return frame

    def retranslate(self) -> None:
        names = ("encoding", "format", "separator", "header", "source", "target")
        for label, name in zip(self.labels, names, strict=True):
            label.setText(tr(f"lab.file.{name}"))
        self.swap.setText(tr("lab.file.swap"))
        self.other.setText(tr("lab.file.other"))
        self.back.setText(tr("lab.back"))
        self.go_on.setText(tr("lab.file.go_on"))
        self.rows_head.set_texts(tr("lab.file.rows"))
        self.report_head.set_texts(tr("lab.file.report"))

    def draw(self, state: ViewState) -> None:
        file = state.lab.file
        if file is None:
            return
        look = file.look
        name, facts = title(file)
        self.heading.setText(name)
        self.facts.setText(facts)
        self.encoding.set_options(encodings(file), None if look is None else look.encoding)
        self.format.set_options(formats(), None if look is None else look.format)
        self.separator.set_options(separators(file), None if look is None else look.separator)
        header = ((True, tr("lab.file.header.yes")), (False, tr("lab.file.header.no")))
        self.header.set_options(header, None if look is None else look.header)
        tabular = look is not None and look.format in ("tsv", "csv")
        self.header.setEnabled(tabular)
        self.separator.setEnabled(look is not None and look.format in ("csv", "lines"))
        columns = () if look is None else tuple((name, name) for name in look.columns)
        self.source.set_options(columns, None if look is None else look.source)
        self.target.set_options(columns, None if look is None else look.target)
        self.swap.setEnabled(look is not None)
        rows = (
            ()
            if look is None
            else tuple(Sample(s.strip(), t.strip(), "", True) for s, t in look.rows)
        )
        heads = (tr("lab.file.source"), tr("lab.file.target"))
        self.rows.set_samples(rows, heads, tr("lab.file.reading"))
        self._draw_report(file)
        self.go_on.setEnabled(file.report is not None)

    def _draw_report(self, file: FileImport) -> None:
        unsure = file.look is not None and not file.look.encoding_is_sure
        self.warning.setText(tr("lab.file.unsure") if unsure else "")
        self.warning.setVisible(unsure)
        waiting = "" if unsure or file.refusal else tr("lab.file.reading")
        lines = report_lines(file.report) if file.report is not None else (waiting,)
        self.report.setText("\n".join(lines))

    # What the user does.

    def _setting(self, name: str) -> Callable[[Any], None]:
        def choose(value: Any) -> None:
            file = self.store.state.lab.file
            if file is not None:
                self.store.dispatch(lab_actions.set_reading, **wish(file, name, value))

        return choose

    def _on_swap(self) -> None:
        self.store.dispatch(lab_actions.swap_columns)

    def _on_back(self) -> None:
        self.store.dispatch(lab_actions.go_to, "choose")

    def _on_go_on(self) -> None:
        self.store.dispatch(lab_actions.accept_file)
