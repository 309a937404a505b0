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
    readonly property real plotWidth: Math.max(Theme.px(150), width * (narrow ? 0.3 : 0.36))
    function focusRows() { rows.forceActiveFocus(); }
    function search() { field.forceActiveFocus(); field.selectAll(); }
    function tone(name) { return name === "worse" ? Theme.removed : name === "better" ? Theme.added : Theme.textMuted; }
    function sign(name) { return name === "worse" ? "▲" : name === "better" ? "▼" : ""; }
    component Cell: ULabel { property real wide: Theme.px(78); Layout.preferredWidth: wide; Layout.minimumWidth: wide; horizontalAlignment: Text.AlignRight; font.pixelSize: Theme.small; mono: true }
    component Heading: Item {
        id: heading
        property string column: ""
        property string text: ""
        property bool left: false
        readonly property bool taken: pane.model.sort === column
        objectName: "experimentSort-" + column
        Layout.preferredWidth: Theme.px(78)
        Layout.minimumWidth: left ? Theme.px(60) : Layout.preferredWidth
        implicitHeight: Theme.px(26)
        ULabel { anchors.fill: parent; horizontalAlignment: heading.left ? Text.AlignLeft : Text.AlignRight; text: heading.text + (heading.taken ? (pane.model.descending ? " ↓" : " ↑") : ""); color: heading.taken || area.containsMouse ? Theme.text : Theme.textMuted; font.pixelSize: Theme.small }
        UArea { id: area; anchors.fill: parent; name: qsTr("Sort by %1").arg(heading.text); onClicked: pane.model.sortBy(heading.column) }
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        RowLayout {
            Layout.fillWidth: true
            Layout.margins: Theme.px(8)
            spacing: Theme.px(6)
            UField {
                id: field
                objectName: "experimentSearch"
                hint: qsTr("Settings")
                Layout.fillWidth: true
                Layout.maximumWidth: Theme.px(260)
                onTextChanged: pane.model.search = text
                Keys.onEscapePressed: { if (text.length > 0) clear(); rows.forceActiveFocus(); }
                Keys.onReturnPressed: rows.forceActiveFocus()
                Connections { target: pane.model; function onChanged() { if (pane.model.search !== field.text) field.text = pane.model.search; } }
            }
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
            Item { Layout.fillWidth: true }
            UButton { objectName: "experimentZero"; quiet: false; on: pane.model.fromZero; text: qsTr("Axis from 0"); tip: qsTr("Off: the axis begins at the smallest value, which shows small differences"); onClicked: pane.model.fromZero = !pane.model.fromZero }
        }
        Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        RowLayout {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(14)
            Layout.rightMargin: Theme.px(18)
            spacing: Theme.px(10)
            Heading { left: true; column: "name"; text: pane.pairs ? qsTr("Pair") : qsTr("Cell"); Layout.fillWidth: true }
            Heading { column: "median"; text: pane.pairs ? qsTr("before") : qsTr("median") }
            Heading { visible: !pane.pairs; column: "interval"; text: qsTr("95 % interval"); Layout.preferredWidth: Theme.px(150) }
            Heading { visible: !pane.pairs && !pane.narrow; column: "mean"; text: qsTr("mean") }
            Heading { visible: !pane.pairs && !pane.narrow; column: "deviation"; text: qsTr("deviation") }
            Heading { visible: !pane.pairs && !pane.narrow; column: "failed"; text: qsTr("failed"); Layout.preferredWidth: Theme.px(48) }
            Heading { visible: pane.pairs; column: "after"; text: qsTr("after") }
            Heading { visible: pane.pairs; column: "change"; text: qsTr("change"); Layout.preferredWidth: Theme.px(62) }
            Heading { visible: pane.pairs && !pane.narrow; column: "p"; text: "p"; Layout.preferredWidth: Theme.px(62) }
            Item { visible: pane.pairs; Layout.preferredWidth: Theme.px(104) }
            Item {
                objectName: "experimentAxis"
                Layout.preferredWidth: pane.plotWidth
                implicitHeight: Theme.px(26)
                Repeater {
                    model: pane.model.axis
                    ULabel {
                        required property string modelData
                        required property int index
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
                height: pane.pairs ? Theme.px(44) : Theme.px(32)
                Rectangle { visible: row.chosen; width: Theme.px(3); height: parent.height; color: Theme.accent }
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(14)
                    anchors.rightMargin: Theme.px(18)
                    spacing: Theme.px(10)
                    ULabel { text: row.name; elide: Text.ElideMiddle; Layout.fillWidth: true; Layout.minimumWidth: Theme.px(60); font.weight: row.chosen ? Font.DemiBold : Font.Normal }
                    Cell { text: row.median }
                    Cell { visible: !pane.pairs; text: row.interval; wide: Theme.px(150) }
                    Cell { visible: !pane.pairs && !pane.narrow; text: row.mean }
                    Cell { visible: !pane.pairs && !pane.narrow; text: row.deviation }
                    Cell { visible: !pane.pairs && !pane.narrow; text: row.failed > 0 ? row.failed : "–"; color: row.failed > 0 ? Theme.error : Theme.textFaint; wide: Theme.px(48) }
                    Cell { visible: pane.pairs; text: row.after }
                    Cell { visible: pane.pairs; text: row.change; wide: Theme.px(62); color: row.tone.length > 0 ? pane.tone(row.tone) : Theme.text }
                    Cell { visible: pane.pairs && !pane.narrow; text: row.p; wide: Theme.px(62); color: Theme.textMuted }
                    ULabel { visible: pane.pairs; text: (pane.sign(row.tone) + " " + row.verdict).trim(); color: pane.tone(row.tone); font.pixelSize: Theme.small; font.weight: row.tone.length > 0 ? Font.DemiBold : Font.Normal; Layout.preferredWidth: Theme.px(104) }
                    Item {
                        Layout.preferredWidth: pane.plotWidth
                        Layout.fillHeight: true
                        ExperimentStrip { strip: row.strip; tone: pane.pairs ? Theme.removed : Theme.accent; width: parent.width; height: pane.pairs ? parent.height / 2 - 1 : parent.height; y: pane.pairs ? 1 : 0 }
                        ExperimentStrip { visible: pane.pairs; strip: row.afterStrip; tone: Theme.added; width: parent.width; height: parent.height / 2 - 1; y: parent.height / 2 }
                    }
                }
                UTip { visible: row.hovered; delay: 900; x: Theme.px(14); y: row.height; text: row.name + "\n" + row.median + (row.interval.length > 0 ? " (" + row.interval + ")" : "") + (pane.pairs ? "\n" + row.after + " (" + row.afterInterval + ")\n" + row.change + ", p " + row.p + ": " + row.verdict : "") + (row.strip.note ? "\n" + row.strip.note : "") }
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
