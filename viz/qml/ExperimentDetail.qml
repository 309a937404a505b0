// The chosen row of an experiment: every metric, the kernels with their sources, and the output of a failed run.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    color: Theme.panel
    readonly property ExperimentModel experiment: Tools.experiment
    readonly property bool pairs: experiment.comparing
    property int kernel: -1
    Connections { target: pane.experiment; function onDetailChanged() { pane.kernel = -1; } }
    component Number: ULabel { height: Theme.px(21); mono: true; font.pixelSize: Theme.small; horizontalAlignment: Text.AlignRight; Layout.preferredWidth: Theme.px(74) }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        PaneHeader { Layout.fillWidth: true; title: qsTr("All metrics") }
        Repeater {
            model: pane.experiment.facts
            Row {
                id: fact
                required property var modelData
                readonly property bool brief: pane.pairs || pane.width < Theme.px(350)
                readonly property bool tight: pane.pairs && pane.width < Theme.px(330) // the side before stands in the table
                readonly property real rest: (brief ? 0 : Theme.px(180)) + (pane.pairs ? Theme.px(66 + (tight ? 0 : 82)) : 0)
                Layout.fillWidth: true
                Layout.leftMargin: Theme.px(12)
                Layout.rightMargin: Theme.px(12)
                spacing: Theme.px(8)
                ULabel { width: Math.max(Theme.px(30), pane.width - Theme.px(24 + 82) - fact.rest); height: Theme.px(21); text: fact.modelData.name; color: Theme.textMuted; font.pixelSize: Theme.small }
                Number { visible: !fact.tight; width: Theme.px(74); text: fact.modelData.before }
                Number { visible: !fact.brief; width: Theme.px(172); text: fact.modelData.interval; color: Theme.textMuted }
                Number { visible: pane.pairs; width: Theme.px(74); text: fact.modelData.after || "" }
                Number { visible: pane.pairs; width: Theme.px(58); text: fact.modelData.change || ""; color: fact.modelData.tone === "worse" ? Theme.removed : fact.modelData.tone === "better" ? Theme.added : Theme.textMuted; font.weight: fact.modelData.tone ? Font.DemiBold : Font.Normal }
            }
        }
        Rectangle { Layout.fillWidth: true; Layout.topMargin: Theme.px(8); implicitHeight: 1; color: Theme.line }
        PaneHeader { Layout.fillWidth: true; title: qsTr("Kernels"); detail: pane.experiment.kernelsLeft > 0 ? qsTr("and %1 more").arg(pane.experiment.kernelsLeft) : qsTr("median of the first run") }
        UButton {
            objectName: "experimentCompilations"
            visible: pane.experiment.hasCompilations
            Layout.leftMargin: Theme.px(12)
            Layout.bottomMargin: Theme.px(6)
            quiet: false
            text: qsTr("Compare compilations")
            tip: qsTr("Which rewrites and which code differ between the two cells")
            onClicked: pane.experiment.compareCompilations()
        }
        UList {
            id: kernels
            objectName: "experimentKernels"
            name: qsTr("Kernels of the cell")
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.minimumHeight: Theme.px(60)
            model: pane.experiment.kernels
            onTaken: index => pane.kernel = index === pane.kernel ? -1 : index
            delegate: URow {
                id: row
                required property var modelData
                required property int index
                objectName: "experimentKernel" + index
                owner: kernels
                at: index
                chosen: index === pane.kernel
                label: modelData.name + ", " + modelData.before
                width: kernels.width
                height: Theme.row
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(12)
                    anchors.rightMargin: Theme.px(12)
                    spacing: Theme.px(8)
                    ULabel { text: row.modelData.name; Layout.fillWidth: true }
                    Number { visible: !pane.pairs; text: "×" + row.modelData.launches; color: Theme.textMuted; Layout.preferredWidth: Theme.px(48) }
                    Number { text: row.modelData.before }
                    Number { visible: pane.pairs; text: row.modelData.after || "–" }
                }
            }
            ULabel { visible: kernels.count === 0; x: Theme.px(12); y: Theme.px(6); text: qsTr("This program reports no kernels."); color: Theme.textFaint }
        }
        Rectangle { visible: source.text.length > 0; Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        ScrollView {
            visible: source.text.length > 0
            Layout.fillWidth: true
            Layout.preferredHeight: pane.height * 0.42
            Layout.margins: Theme.px(8)
            TextArea {
                id: source
                objectName: "experimentSource"
                Accessible.name: pane.kernel >= 0 ? qsTr("Source of the kernel") : qsTr("Output of the failed run")
                readOnly: true
                textFormat: TextEdit.PlainText
                text: pane.kernel >= 0 ? pane.experiment.source(pane.kernel) : pane.experiment.failure
                color: pane.kernel >= 0 ? Theme.text : Theme.error
                font.family: Theme.mono
                font.pixelSize: Theme.px(12)
                background: null
                selectByMouse: true
            }
        }
    }
}
