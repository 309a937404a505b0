// An experiment: its cells as a table with a plot, or pairs compared with "better, worse, no difference".
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: page
    objectName: "experimentPage"
    color: Theme.canvas
    readonly property ExperimentModel experiment: Tools.experiment
    signal fileAsked(var then)
    function exporter(window) { return { kinds: ["csv", "json", "html"], name: page.experiment.fileName.replace(/\.uopbench$/, "") + ".csv", to: path => window.told(path, page.experiment.exportTo(path)) }; }
    MouseArea { Accessible.ignored: true; anchors.fill: parent; hoverEnabled: true; onWheel: wheel => wheel.accepted = true } // shields the page below
    Connections {
        target: page.experiment
        function onUiAction(id) { if (id === "search") table.search(); }
    }
    readonly property string phase: experiment.state
    // The rows take the keyboard once they are there. A timer goes with the page; a call of Qt.callLater would be made
    // after its end too.
    Timer { id: focusing; interval: 0; onTriggered: table.focusRows() }
    onPhaseChanged: if (phase === "ready") focusing.restart()
    Component.onCompleted: if (phase === "ready") focusing.restart()
    ColumnLayout {
        visible: page.experiment.state === "working"
        anchors.centerIn: parent
        spacing: Theme.px(12)
        ULabel { text: qsTr("Reading %1").arg(page.experiment.fileName); font.pixelSize: Theme.title; font.weight: Font.DemiBold }
        UButton { objectName: "experimentCancel"; text: qsTr("Cancel"); quiet: false; icon16: "stop"; onClicked: page.experiment.cancel() }
    }
    ColumnLayout {
        visible: page.experiment.state === "error"
        anchors.centerIn: parent
        width: Math.min(parent.width - Theme.px(80), Theme.px(720))
        spacing: Theme.px(14)
        RowLayout {
            spacing: Theme.px(14)
            Icon { name: "warning"; implicitWidth: Theme.px(30); implicitHeight: implicitWidth; color: Theme.error }
            ULabel { text: qsTr("This experiment cannot be shown"); font.pixelSize: Theme.px(20); font.weight: Font.DemiBold; Layout.fillWidth: true }
        }
        ULabel { objectName: "experimentError"; text: page.experiment.errorText; wrapMode: Text.Wrap; lineHeight: 1.2; Layout.fillWidth: true }
        RowLayout {
            spacing: Theme.px(8)
            UButton { objectName: "experimentAnother"; primary: true; icon16: "open"; text: qsTr("Open another file"); onClicked: page.fileAsked(path => page.experiment.openFiles([path])) }
            UButton { objectName: "experimentBack"; quiet: false; text: qsTr("Back"); onClicked: page.experiment.shown = false }
        }
    }
    ColumnLayout {
        visible: page.experiment.state === "ready"
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: head.height + about.height + Theme.px(16)
            color: Theme.panel
            ToolLine {
                id: head
                x: Theme.px(14)
                y: Theme.px(8)
                width: parent.width - Theme.px(24)
                height: implicitHeight
                least: Theme.px(260)
                label.objectName: "experimentTitle"
                label.font.weight: Font.DemiBold
                label.font.pixelSize: Theme.body
                label.color: Theme.text
                more.objectName: "experimentHeadline"
                more.font.pixelSize: Theme.body
                more.color: Theme.textMuted
                text: page.experiment.title
                detail: page.experiment.headline
                USegments {
                    objectName: "experimentMode"
                    visible: page.experiment.hasPairs && page.experiment.other.length === 0
                    options: [{ value: "cells", text: qsTr("Cells") }, { value: "pairs", text: qsTr("Comparison") }]
                    value: page.experiment.comparing ? "pairs" : "cells"
                    onPicked: value => page.experiment.comparing = value === "pairs"
                }
                UChip { height: Theme.px(28); visible: page.experiment.other.length > 0; sign: "−"; tone: Theme.removed; text: page.experiment.fileName }
                UButton { objectName: "experimentSwap"; visible: page.experiment.other.length > 0; text: "⇄"; tip: qsTr("Swap sides"); onClicked: page.experiment.swap() }
                UChip { height: Theme.px(28); visible: page.experiment.other.length > 0; sign: "+"; tone: Theme.added; text: page.experiment.other.substring(page.experiment.other.lastIndexOf("/") + 1) }
                UButton { objectName: "experimentCompare"; quiet: false; text: qsTr("Compare with…"); tip: qsTr("Another experiment: cells of equal settings, before and after"); onClicked: page.fileAsked(path => page.experiment.compareWith(path)) }
                UButton { objectName: "experimentClose"; icon16: "close"; tip: qsTr("Close (Esc)"); onClicked: page.experiment.shown = false }
            }
            ULabel { id: about; x: Theme.px(14); y: head.y + head.height; width: head.width; text: page.experiment.about; color: Theme.textFaint; font.pixelSize: Theme.small }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Rectangle {
            visible: page.experiment.warning.length > 0
            Layout.fillWidth: true
            implicitHeight: note.implicitHeight + Theme.px(12)
            color: Theme.raised
            ULabel { id: note; objectName: "experimentWarning"; x: Theme.px(14); y: Theme.px(6); width: parent.width - Theme.px(28); text: page.experiment.warning; color: Theme.warning; wrapMode: Text.Wrap }
        }
        Flow {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(14)
            Layout.rightMargin: Theme.px(14)
            Layout.topMargin: Theme.px(8)
            spacing: Theme.px(5)
            Repeater {
                model: page.experiment.metrics
                Rectangle {
                    id: chip
                    required property var modelData
                    objectName: "experimentMetric-" + modelData.value
                    readonly property bool taken: page.experiment.metric === modelData.value
                    implicitWidth: words.implicitWidth + Theme.px(20)
                    implicitHeight: Theme.px(26)
                    radius: 6
                    color: taken ? Theme.selection : area.containsMouse ? Theme.hover : Theme.raised
                    border.color: taken ? Theme.accent : Theme.line
                    Row {
                        id: words
                        anchors.centerIn: parent
                        spacing: Theme.px(6)
                        ULabel { text: chip.modelData.text; color: chip.taken ? Theme.text : Theme.textMuted; font.weight: chip.taken ? Font.DemiBold : Font.Normal }
                        ULabel { visible: chip.modelData.worse > 0; text: "▲" + chip.modelData.worse; color: Theme.removed; font.pixelSize: Theme.small; height: parent.height }
                        ULabel { visible: chip.modelData.better > 0; text: "▼" + chip.modelData.better; color: Theme.added; font.pixelSize: Theme.small; height: parent.height }
                    }
                    UArea { id: area; anchors.fill: parent; radius: chip.radius; name: chip.modelData.text; Accessible.role: Accessible.RadioButton; Accessible.checkable: true; Accessible.checked: chip.taken; onClicked: page.experiment.metric = chip.modelData.value }
                    UTip { visible: area.containsMouse; text: chip.modelData.tip + (chip.modelData.worse + chip.modelData.better > 0 ? "\n" + qsTr("%1 worse, %2 better").arg(chip.modelData.worse).arg(chip.modelData.better) : "") }
                }
            }
        }
        UScroll {
            Layout.fillWidth: true
            Layout.fillHeight: true
            needed: split.stacked ? Theme.px(760) : Theme.px(300)
            USplit { // where the two would be too narrow beside each other, the details lie below
                id: split
                readonly property bool stacked: page.width < Theme.px(800)
                anchors.fill: parent
                orientation: stacked ? Qt.Vertical : Qt.Horizontal
                ExperimentTable { id: table; SplitView.fillWidth: true; SplitView.fillHeight: true; SplitView.minimumWidth: Math.min(Theme.px(420), page.width * 0.5); SplitView.minimumHeight: Theme.px(200) }
                ExperimentDetail { SplitView.preferredWidth: Math.min(Theme.px(400), page.width * (page.width < Theme.px(1000) ? 0.28 : 0.34)); SplitView.minimumWidth: Math.min(Theme.px(240), page.width * 0.3); SplitView.preferredHeight: Theme.px(480); SplitView.minimumHeight: Theme.px(240) }
            }
        }
        ULabel {
            visible: page.experiment.comparing
            Layout.fillWidth: true
            Layout.margins: Theme.px(8)
            Layout.leftMargin: Theme.px(14)
            text: qsTr("Change is after minus before, of the medians. A difference is claimed where the two-sided Mann-Whitney U test gives p < 0.01.")
            wrapMode: Text.Wrap
            color: Theme.textFaint
            font.pixelSize: Theme.small
        }
    }
}
