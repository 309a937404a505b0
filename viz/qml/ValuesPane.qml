// Values: the number of every node of the graph in front, before and after, and the values that the kernel stores after each pass.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "valuesPane"
    color: Theme.canvas
    function exporter(window) { return { kinds: window.tables, to: path => Tools.values.exportTo(path) }; }
    readonly property real numberWidth: Math.max(Theme.px(64), width * 0.18)
    readonly property bool throughKernel: Tools.values.ways.length > 0

    component Heading: ULabel { color: Theme.textMuted; font.pixelSize: Theme.small }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        ValueBar { most: pane.height * 0.2; Layout.fillWidth: true }
        ToolLine {
            Layout.fillWidth: true
            Layout.margins: Theme.px(10)
            Layout.leftMargin: Theme.px(14)
            least: Theme.px(200)
            label.objectName: "valuesVerdict"
            label.color: Tools.values.problem.length > 0 || Tools.values.differing > 0 ? Theme.error : Theme.textMuted
            label.font.pixelSize: Theme.body
            text: Tools.values.problem.length > 0 ? Tools.values.problem : Tools.values.busy ? qsTr("Computing …") : Tools.values.differing === 1 ? qsTr("1 number differs") : Tools.values.differing > 1 ? qsTr("%1 numbers differ").arg(Tools.values.differing) : Session.step > 0 ? qsTr("No number differs here") : ""
            UButton { objectName: "valuesOnly"; on: Tools.values.onlyDiffering; quiet: false; text: qsTr("Only those that differ"); onClicked: Tools.values.onlyDiffering = !Tools.values.onlyDiffering }
            UButton { objectName: "valuesOn"; on: Tools.values.on; quiet: false; text: qsTr("On the nodes too"); tip: qsTr("Numbers on the nodes of the graph (Y)"); onClicked: Tools.values.on = !Tools.values.on }
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(14)
            Layout.rightMargin: Theme.px(14)
            spacing: Theme.px(8)
            Heading { text: qsTr("node"); Layout.preferredWidth: Theme.px(60) }
            Heading { text: qsTr("operation"); Layout.fillWidth: true }
            Heading { text: qsTr("before"); Layout.preferredWidth: pane.numberWidth }
            Heading { text: qsTr("after"); Layout.preferredWidth: pane.numberWidth }
            Heading { text: qsTr("where, or why not"); Layout.preferredWidth: pane.numberWidth }
        }
        UList {
            id: list
            objectName: "valuesList"
            name: qsTr("Numbers of the nodes")
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: Tools.values
            onTaken: index => Tools.values.selectNode(index)
            delegate: URow {
                id: row
                required property int index
                required property real node
                required property string title
                required property string before
                required property string after
                required property string note
                required property bool differs
                owner: list
                at: index
                label: title + ": " + (before.length > 0 ? before + " → " : "") + after + " " + note
                chosen: node === Session.node
                width: list.width
                height: Theme.row
                onDoubleClicked: Tools.values.goToNode(index)
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(14)
                    anchors.rightMargin: Theme.px(14)
                    spacing: Theme.px(8)
                    ULabel { text: row.node < 2147483648 ? row.node : "·"; mono: true; color: Theme.textFaint; font.pixelSize: Theme.small; Layout.preferredWidth: Theme.px(60) }
                    ULabel { text: (row.differs ? "✗ " : "") + row.title; color: row.differs ? Theme.error : Theme.text; font.pixelSize: Theme.small; Layout.fillWidth: true }
                    ULabel { text: row.before; mono: true; font.pixelSize: Theme.small; color: row.differs ? Theme.error : Theme.textMuted; Layout.preferredWidth: pane.numberWidth }
                    ULabel { text: row.after; mono: true; font.pixelSize: Theme.small; color: row.differs ? Theme.error : Theme.text; font.weight: row.differs ? Font.DemiBold : Font.Normal; Layout.preferredWidth: pane.numberWidth }
                    ULabel { text: row.note; font.pixelSize: Theme.small; color: Theme.textFaint; Layout.preferredWidth: pane.numberWidth }
                }
            }
        }
        Rectangle { visible: pane.throughKernel; Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        ULabel { visible: pane.throughKernel; Layout.margins: Theme.px(14); Layout.bottomMargin: Theme.px(4); text: qsTr("Through the kernel: what it stores after each pass"); color: Theme.textMuted }
        ListView {
            id: ways
            objectName: "valueWays"
            visible: pane.throughKernel
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.maximumHeight: Math.min(pane.height * 0.3, Theme.px(44) * count)
            Layout.preferredHeight: Layout.maximumHeight
            Layout.minimumHeight: Theme.px(30)
            Layout.bottomMargin: Theme.px(8)
            clip: true
            model: Tools.values.ways
            spacing: Theme.px(4)
            delegate: Flow {
                id: way
                required property var modelData
                x: Theme.px(14)
                width: ways.width - Theme.px(28)
                spacing: Theme.px(6)
                ULabel { height: Theme.px(24); verticalAlignment: Text.AlignVCenter; text: way.modelData.element; mono: true }
                Repeater {
                    // Passes that leave the number alone stand together.
                    model: way.modelData.rows.filter((r, k, all) => k === 0 || k === all.length - 1 || r.text !== all[k - 1].text || r.differs !== all[k - 1].differs)
                    UChip {
                        required property var modelData
                        text: (modelData.pass > 0 ? modelData.name : qsTr("as it begins")) + ": " + (modelData.text.length > 0 ? modelData.text : modelData.note)
                        tone: modelData.differs ? Theme.error : Theme.accent
                        sign: modelData.differs ? "✗" : ""
                        link: modelData.pass > 0
                        onClicked: if (modelData.differs && modelData.pass === way.modelData.wrongPass) Session.goTo(modelData.pass, way.modelData.wrongStep); else Session.goTo(modelData.pass, 0)
                    }
                }
            }
        }
    }
}
