"""The lab's view of a file of pairs: how it is read, its first pairs, what was left out and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from model_core.training.text_files import shown_encoding
from visualizer import fonts, lab_actions
from visualizer.i18n import tr, tr_count
from visualizer.lab import FileImport
from visualizer.lenses.lab_file import (
    chosen_columns,
    doubt,
    encodings,
    formats,
    offered_encodings,
    report_rows,
    separators,
    title,
    wish,
)
from visualizer.lenses.lab_picture import Sample
from visualizer.state import ViewState
from visualizer.store import Store
from visualizer.widgets.cleaning_list import CleaningList
from visualizer.widgets.column_area import ColumnArea
from visualizer.widgets.controls import SectionHead, card, push_button
from visualizer.widgets.lab_tables import SampleTable
from visualizer.widgets.title_label import TitleLabel

ASIDE = 23.0
# An encoding that is not sure is asked for with so many answers at most.
MOST_ENCODINGS = 3
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
        self.setEnabled(len(options) > 1 or self.isEditable())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The style sheet takes the arrow away; a list that can be opened has one."""
        super().paintEvent(event)
        if not self.isEnabled():
            return
        em = fonts.em(self.font())
        x, y, s = self.width() - 0.95 * em, self.height() / 2, 0.26 * em
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.PlaceholderText), 0.1 * em))
        corner = QPointF(x, y + s / 2)
        painter.drawLine(QPointF(x - s, y - s / 2), corner)
        painter.drawLine(corner, QPointF(x + s, y - s / 2))
        painter.end()


class SeparatorPicker(Picker):
    """The usual separators, and any other that is typed, spaces included; picked(text)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setCompleter(None)
        self._shown = ""
        self.lineEdit().editingFinished.connect(self._on_typed)

    def set_options(self, options: Named, current: Any) -> None:
        super().set_options(options, current)
        shown = dict(options).get(current, "")
        # what is being typed stays
        if shown != self._shown or not self.lineEdit().hasFocus():
            self._shown = shown
            self.setEditText(shown)

    def _on_typed(self) -> None:
        typed = self.currentText()
        named = {words: value for value, words in self._options}
        if typed and typed != self._shown:
            self._shown = typed
            self.picked.emit(named.get(typed, typed))


class FilePart(QWidget):
    """fileWanted() when the user wants to pick another file."""

    fileWanted = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = store
        em = fonts.em(self.font())
        self.heading, self.facts = TitleLabel(), QLabel()
        self.heading.setFont(fonts.scaled(self.font(), fonts.TITLE, bold=True))
        self.facts.setProperty("role", "muted")
        self.warning = QLabel()
        self.warning.setProperty("role", "warning")
        self.warning.setWordWrap(True)
        self.encoding, self.format, self.separator = Picker(), Picker(), SeparatorPicker()
        self.answers = tuple(push_button() for _ in range(MOST_ENCODINGS))
        self.source, self.target, self.header = Picker(), Picker(), Picker()
        self.swap, self.other = push_button(), push_button()
        self.back, self.go_on = push_button(), push_button(kind="primary")
        self.rows_head, self.report_head = SectionHead(), SectionHead()
        self.rows = SampleTable()
        self.report, self.waiting = CleaningList(), QLabel()
        self.waiting.setProperty("role", "muted")
        self.waiting.setWordWrap(True)
        self.labels = tuple(QLabel() for _ in range(6))
        for label in self.labels:
            label.setProperty("role", "muted")
        for canvas in (self.rows_head, self.report_head, self.rows, self.report):
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
        asked = QHBoxLayout()
        asked.setSpacing(round(0.6 * em))
        asked.addWidget(self.warning, 1)
        for number, button in enumerate(self.answers):
            button.clicked.connect(self._answering(number))
            asked.addWidget(button)
        column.addLayout(asked)
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
        inside.addWidget(self.waiting)
        area = ColumnArea()
        page = QWidget()
        page.setProperty("role", "surface")
        lines = QVBoxLayout(page)
        lines.setContentsMargins(0, 0, round(0.4 * em), 0)
        lines.addWidget(self.report)
        lines.addStretch(1)
        area.setWidget(page)
        inside.addWidget(area, 1)
        return frame

    @property
    def forth(self) -> QPushButton:
        """The button that goes on from here, which Enter presses."""
        return self.go_on

    def retranslate(self) -> None:
        names = ("encoding", "format", "separator", "header", "source", "target")
        for label, name in zip(self.labels, names, strict=True):
            label.setText(tr(f"lab.file.{name}"))
        self.swap.setText(tr("lab.file.swap"))
        self.other.setText(tr("lab.file.other"))
        self.back.setText(tr("lab.back"))
        self.go_on.setText(tr("lab.file.go_on"))
        self.rows_head.set_texts(tr("lab.file.rows"))
        for picker in (self.source, self.target):
            picker.setPlaceholderText(tr("lab.file.choose"))

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
        source, target = chosen_columns(file)
        self.source.set_options(columns, source)
        self.target.set_options(columns, target)
        self.swap.setEnabled(source is not None and target is not None)
        rows = (
            ()
            if look is None
            else tuple(Sample(s.strip(), t.strip(), "", True) for s, t in look.rows)
        )
        heads = (tr("lab.file.source"), tr("lab.file.target"))
        self.rows.set_samples(rows, heads, tr("lab.file.reading"))
        self._draw_report(file)
        self.go_on.setEnabled(file.report is not None and not (look is not None and look.is_open))

    def _draw_report(self, file: FileImport) -> None:
        offered = offered_encodings(file)
        said = doubt(file)
        self.warning.setText(said)
        self.warning.setVisible(bool(said))
        for number, button in enumerate(self.answers):
            button.setVisible(number < len(offered))
            if number < len(offered):
                button.setText(shown_encoding(offered[number]))
        report = file.report
        self.report.set_rows(() if report is None else report_rows(report))
        total = "" if report is None else tr_count("lab.report.lines", report.lines)
        self.report_head.set_texts(tr("lab.file.report"), total)
        waiting = tr("lab.report.unread") if offered else tr("lab.file.reading")
        self.waiting.setText("" if file.refusal else waiting)
        self.waiting.setVisible(report is None)

    # What the user does.

    def _setting(self, name: str) -> Callable[[Any], None]:
        def choose(value: Any) -> None:
            file = self.store.state.lab.file
            if file is not None:
                self.store.dispatch(lab_actions.set_reading, **wish(file, name, value))

        return choose

    def _answering(self, number: int) -> Callable[[], None]:
        def answer() -> None:
            file = self.store.state.lab.file
            if file is not None and number < len(offered_encodings(file)):
                encoding = offered_encodings(file)[number]
                self.store.dispatch(lab_actions.set_reading, encoding=encoding)

        return answer

    def _on_swap(self) -> None:
        self.store.dispatch(lab_actions.swap_columns)

    def _on_back(self) -> None:
        self.store.dispatch(lab_actions.leave_file)

    def _on_go_on(self) -> None:
        self.store.dispatch(lab_actions.accept_file)
