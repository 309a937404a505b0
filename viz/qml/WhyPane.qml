// Why rules did not fire on the selected node: nearest misses first. The graph shows the pattern of a chosen
// rule.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "whyPane"
    visible: Tools.why.open
    implicitHeight: Theme.px(240)
    color: Theme.panel
    Rectangle { width: parent.width; height: 1; color: Theme.line }
    ColumnLayout {
        anchors.fill: parent
        anchors.topMargin: 1
        spacing: 0
        RowLayout {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(12)
            Layout.rightMargin: Theme.px(6)
            Layout.preferredHeight: Theme.px(36)
            spacing: Theme.px(8)
            ULabel { text: qsTr("Why not on %1").arg(Tools.why.about); font.weight: Font.DemiBold; Layout.fillWidth: true; Layout.maximumWidth: Math.ceil(implicitWidth) }
            UField { id: filter; objectName: "whyFilter"; hint: qsTr("Rule"); Layout.fillWidth: true; Layout.maximumWidth: Theme.px(220); onAccepted: Tools.why.ask(text) }
            Item { Layout.fillWidth: true; Layout.preferredWidth: 1 }
            UButton { visible: Tools.why.rule.length > 0; quiet: false; text: qsTr("All rules"); onClicked: Tools.why.ask("") }
            UButton { icon16: "close"; tip: qsTr("Close (W)"); onClicked: Tools.why.open = false }
        }
        ULabel {
            visible: text.length > 0
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(12)
            Layout.rightMargin: Theme.px(12)
            Layout.bottomMargin: Theme.px(6)
            wrapMode: Text.Wrap
            elide: Text.ElideNone
            color: Theme.textMuted
            font.pixelSize: Theme.small
            readonly property string many: qsTr("the %1 rules of this pass that came nearest; click one to draw its pattern").arg(Tools.why.count)
            readonly property string one: qsTr("the rule of this pass that came nearest; click it to draw its pattern")
            text: Tools.why.rule.length > 0 ? "" : Tools.why.count === 1 ? one : Tools.why.count > 1 ? many : qsTr("No rule of this pass can be asked: they were made while the script ran (by Python, say), or the trace is of another program.")
        }
        Rectangle {
            visible: Tools.why.rule.length > 0
            Layout.fillWidth: true
            implicitHeight: answer.implicitHeight + Theme.px(16)
            color: Theme.window
            ColumnLayout {
                id: answer
                x: Theme.px(12)
                y: Theme.px(8)
                width: parent.width - Theme.px(24)
                ULabel { objectName: "whyAnswer"; text: Tools.why.rule + ": " + Tools.why.answer; font.weight: Font.DemiBold; Layout.fillWidth: true; wrapMode: Text.Wrap; elide: Text.ElideNone }
                ULabel { text: Tools.why.pattern; mono: true; color: Theme.textMuted; font.pixelSize: Theme.px(11.5); Layout.fillWidth: true; wrapMode: Text.WrapAnywhere; maximumLineCount: 3 }
            }
        }
        UList {
            id: list
            objectName: "whyList"
            name: qsTr("Rules by how near they came")
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: Tools.why
            onTaken: index => { const row = itemAtIndex(index); if (row) Tools.why.ask(row.rule); }
            delegate: URow {
                id: row
                owner: list
                at: index
                label: rule + ": " + reason
                chosen: rule === Tools.why.rule
                required property int index
                required property string rule
                required property string reason
                required property double near
                required property string place
                readonly property bool fits: filter.text.length === 0 || rule.indexOf(filter.text) >= 0
                width: list.width
                height: fits ? Theme.px(26) : 0
                visible: fits
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(12)
                    anchors.rightMargin: Theme.px(12)
                    spacing: Theme.px(10)
                    Rectangle {
                        implicitWidth: Theme.px(54)
                        implicitHeight: Theme.px(6)
                        radius: 3
                        color: Theme.line
                        Rectangle { width: parent.width * row.near; height: parent.height; radius: 3; color: row.near >= 1 ? Theme.accent : Theme.warning }
                    }
                    ULabel { text: row.rule; Layout.preferredWidth: Theme.px(190) }
                    ULabel { text: row.reason; color: Theme.textMuted; Layout.fillWidth: true }
                    ULabel { text: row.place; color: Theme.textFaint; font.pixelSize: Theme.px(10.5) }
                }
            }
        }
    }
}
