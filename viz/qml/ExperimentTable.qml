// The table of an experiment beside its plot: a row a cell, or a row a pair in a comparison. A click on a heading
// sorts by it, a second one turns the order round.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    color: Theme.canvas
    readonly property ExperimentRows model: Tools.experiment.rows
    readonly property bool pairs: model.comparing
    readonly property bool narrow: width < Theme.px(820)
    readonly property bool tight: width < Theme.px(600) ///< the change tells the verdict by its sign and colour
    // Widths of the columns: numbers have fixed ones, the plot takes what names of usual length leave.
    readonly property real gap: Theme.px(10)
    readonly property var wide: ({ median: Theme.px(80), interval: pairs ? 0 : Theme.px(164), mean: pairs || narrow ? 0 : Theme.px(80), deviation: pairs || narrow ? 0 : Theme.px(80), failed: pairs || narrow ? 0 : Theme.px(48), after: pairs ? Theme.px(80) : 0, change: pairs ? Theme.px(62) : 0, p: pairs && !narrow ? Theme.px(62) : 0, verdict: pairs && !tight ? Theme.px(104) : 0 })
    readonly property real taken: { let sum = Theme.px(32) + gap; for (const name in wide) if (wide[name] > 0) sum += wide[name] + gap; return sum; }
    readonly property real plotWidth: Math.max(Theme.px(100), Math.min(width * 0.5, width - taken - Theme.px(pairs ? narrow ? 150 : 210 : narrow ? 152 : 218)))
    readonly property real nameWidth: Math.max(Theme.px(50), width - taken - plotWidth)
    function focusRows() { rows.forceActiveFocus(); }
    function search() { field.forceActiveFocus(); field.selectAll(); }
    function tone(name) { return name === "worse" ? Theme.removed : name === "better" ? Theme.added : Theme.textMuted; }
    function sign(name) { return name === "worse" ? "▲" : name === "better" ? "▼" : ""; }
    component Cell: ULabel { height: parent.height; visible: width > 0; horizontalAlignment: Text.AlignRight; font.pixelSize: Theme.small; mono: true }
    component Heading: Item {
        id: heading
        property string column: ""
        property string text: ""
        property bool leftward: false
        readonly property bool taken: pane.model.sort === column
        objectName: "experimentSort-" + column
        visible: width > 0
        height: Theme.px(26)
        ULabel { anchors.fill: parent; horizontalAlignment: heading.leftward ? Text.AlignLeft : Text.AlignRight; text: heading.text + (heading.taken ? (pane.model.descending ? " ↓" : " ↑") : ""); color: heading.taken || area.containsMouse ? Theme.text : Theme.textMuted; font.pixelSize: Theme.small }
        UArea { id: area; anchors.fill: parent; name: qsTr("Sort by %1").arg(heading.text); onClicked: pane.model.sortBy(heading.column) }
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Item {
            Layout.fillWidth: true
            implicitHeight: Theme.px(44)
            UField {
                id: field
                objectName: "experimentSearch"
                hint: qsTr("Search settings")
                x: Theme.px(8)
                anchors.verticalCenter: parent.verticalCenter
                width: Math.min(Theme.px(240), parent.width * 0.26)
                onTextChanged: pane.model.search = text
                Keys.onEscapePressed: { if (text.length > 0) clear(); rows.forceActiveFocus(); }
                Keys.onReturnPressed: rows.forceActiveFocus()
                Connections { target: pane.model; function onChanged() { if (pane.model.search !== field.text) field.text = pane.model.search; } }
            }
            Row {
                anchors.left: field.right
                anchors.leftMargin: Theme.px(8)
                anchors.verticalCenter: parent.verticalCenter
                spacing: Theme.px(5)
                Repeater {
                    model: pane.model.filters.length > 1 ? pane.model.filters : []
                    Rectangle {
                        id: chip
                        required property var modelData
                        objectName: "experimentFilter-" + modelData.value
                        readonly property bool taken: pane.model.filter === modelData.value
                        implicitWidth: label.implicitWidth + Theme.px(16)
                        implicitHeight: Theme.px(23)
                        radius: height / 2
                        color: taken ? Theme.selection : chipArea.containsMouse ? Theme.hover : Theme.raised
                        border.color: taken ? Theme.accent : Theme.line
                        ULabel { id: label; anchors.centerIn: parent; text: chip.modelData.text + " " + chip.modelData.count; color: chip.taken ? Theme.text : Theme.textMuted; font.pixelSize: Theme.small }
                        UArea { id: chipArea; anchors.fill: parent; radius: chip.radius; name: label.text; Accessible.role: Accessible.RadioButton; Accessible.checkable: true; Accessible.checked: chip.taken; onClicked: pane.model.filter = chip.modelData.value }
                    }
                }
            }
            UButton { objectName: "experimentZero"; anchors.right: parent.right; anchors.rightMargin: Theme.px(8); anchors.verticalCenter: parent.verticalCenter; quiet: false; on: pane.model.fromZero; text: qsTr("Axis from 0"); tip: qsTr("Off: the axis begins at the smallest value, which shows small differences"); onClicked: pane.model.fromZero = !pane.model.fromZero }
        }
        Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        Row {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(14)
            spacing: pane.gap
            Heading { leftward: true; column: "name"; text: pane.pairs ? qsTr("Pair") : qsTr("Cell"); width: pane.nameWidth }
            Heading { column: "median"; text: pane.pairs ? qsTr("before") : qsTr("median"); width: pane.wide.median }
            Heading { column: "interval"; text: qsTr("95 % interval"); width: pane.wide.interval }
            Heading { column: "mean"; text: qsTr("mean"); width: pane.wide.mean }
            Heading { column: "deviation"; text: qsTr("deviation"); width: pane.wide.deviation }
            Heading { column: "failed"; text: qsTr("failed"); width: pane.wide.failed }
            Heading { column: "after"; text: qsTr("after"); width: pane.wide.after }
            Heading { column: "change"; text: qsTr("change"); width: pane.wide.change }
            Heading { column: "p"; text: "p"; width: pane.wide.p }
            Item { visible: width > 0; width: pane.wide.verdict; height: 1 }
            Item {
                objectName: "experimentAxis"
                width: pane.plotWidth
                height: Theme.px(26)
                Repeater {
                    model: pane.model.axis
                    ULabel {
                        required property string modelData
                        required property int index
                        visible: index !== 1 || pane.plotWidth > Theme.px(220)
                        text: modelData
                        height: parent.height
                        x: (parent.width - width) * index / 2
                        color: Theme.textMuted
                        font.pixelSize: Theme.small
                    }
                }
            }
        }
        Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        UList {
            id: rows
            objectName: "experimentList"
            name: pane.pairs ? qsTr("Pairs of cells") : qsTr("Cells of the experiment")
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: pane.model
            reuseItems: true
            start: pane.model.currentRow
            onTaken: index => pane.model.choose(index)
            readonly property int wanted: pane.model.currentRow
            onWantedChanged: if (wanted >= 0) { currentIndex = wanted; positionViewAtIndex(wanted, ListView.Contain); }
            delegate: URow {
                id: row
                required property int index
                required property string name
                required property string median
                required property string interval
                required property string mean
                required property string deviation
                required property int runs
                required property int failed
                required property string after
                required property string afterInterval
                required property string change
                required property string p
                required property string verdict
                required property string tone
                required property var strip
                required property var afterStrip
                required chosen
                objectName: "experimentRow" + index
                owner: rows
                at: index
                label: pane.pairs ? name + ", " + median + ", " + after + ", " + change + ", " + verdict : name + ", " + median + ", " + interval
                width: rows.width
                height: pane.pairs || pane.narrow ? Theme.px(44) : Theme.px(36)
                Rectangle { visible: row.chosen; width: Theme.px(3); height: parent.height; color: Theme.accent }
                Row {
                    x: Theme.px(14)
                    height: parent.height
                    spacing: pane.gap
                    ULabel { width: pane.nameWidth; height: parent.height; text: row.name; elide: Text.ElideRight; wrapMode: Text.Wrap; maximumLineCount: 2; font.pixelSize: pane.narrow ? Theme.small : Theme.body; font.weight: row.chosen ? Font.DemiBold : Font.Normal }
                    Cell { width: pane.wide.median; text: row.median }
                    Cell { width: pane.wide.interval; text: row.interval }
                    Cell { width: pane.wide.mean; text: row.mean }
                    Cell { width: pane.wide.deviation; text: row.deviation }
                    Cell { width: pane.wide.failed; text: row.failed > 0 ? row.failed.toString() : "–"; color: row.failed > 0 ? Theme.error : Theme.textFaint }
                    Cell { width: pane.wide.after; text: row.after }
                    Cell { width: pane.wide.change; text: pane.tight ? (pane.sign(row.tone) + row.change) : row.change; color: row.tone.length > 0 ? pane.tone(row.tone) : Theme.text }
                    Cell { width: pane.wide.p; text: row.p; color: Theme.textMuted }
                    Cell { width: pane.wide.verdict; horizontalAlignment: Text.AlignLeft; mono: false; text: (pane.sign(row.tone) + " " + row.verdict).trim(); color: pane.tone(row.tone); font.weight: row.tone.length > 0 ? Font.DemiBold : Font.Normal }
                    Item {
                        width: pane.plotWidth
                        height: parent.height
                        ExperimentStrip { strip: row.strip; tone: pane.pairs ? Theme.removed : Theme.accent; width: parent.width; height: pane.pairs ? parent.height / 2 - 1 : parent.height; y: pane.pairs ? 1 : 0 }
                        ExperimentStrip { visible: pane.pairs; strip: row.afterStrip; tone: Theme.added; width: parent.width; height: parent.height / 2 - 1; y: parent.height / 2 }
                    }
                }
                UTip { visible: row.hovered; delay: 900; x: row.width + Theme.px(8); y: 0; text: row.name + "\n" + row.median + (row.interval.length > 0 ? " (" + row.interval + ")" : "") + (pane.pairs ? "\n" + row.after + " (" + row.afterInterval + ")\n" + row.change + ", p " + row.p + ": " + row.verdict : "") + (row.strip.note ? "\n" + row.strip.note : "") }
            }
            ULabel { visible: rows.count === 0; x: Theme.px(14); y: Theme.px(8); text: pane.model.total === 0 ? qsTr("The file holds no cell.") : qsTr("Nothing is listed by this search."); color: Theme.textFaint }
        }
        ULabel {
            visible: pane.model.shown !== pane.model.total
            Layout.margins: Theme.px(8)
            text: qsTr("%1 of %2").arg(pane.model.shown).arg(pane.model.total)
            color: Theme.textFaint
            font.pixelSize: Theme.small
        }
    }
}
