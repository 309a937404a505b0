// LLVM's passes after our own: those that changed the kernel, and the difference that the chosen one made.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "llvmPane"
    color: Theme.canvas
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Theme.px(38)
            color: Theme.panel
            RowLayout {
                anchors.fill: parent
                anchors.leftMargin: Theme.px(14)
                anchors.rightMargin: Theme.px(8)
                spacing: Theme.px(8)
                ULabel { text: Tools.llvm.name; font.weight: Font.DemiBold }
                ULabel { objectName: "llvmMeaning"; text: Tools.llvm.meaning; color: Theme.textMuted; font.pixelSize: Theme.small; Layout.fillWidth: true }
                UChip { visible: Tools.llvm.lines.hidden > 0; text: Tools.llvm.lines.hidden === 1 ? qsTr("1 equal line left out") : qsTr("%1 equal lines left out").arg(Tools.llvm.lines.hidden); link: true; onClicked: Tools.llvm.lines.onlyChanges = false }
                UButton { objectName: "llvmClose"; quiet: false; text: qsTr("IR as rendered"); onClicked: Tools.llvm.open = false }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            spacing: 0
            UList {
                id: list
                objectName: "llvmList"
                name: qsTr("Passes of LLVM that changed the kernel")
                Layout.preferredWidth: Math.min(Theme.px(260), Math.max(Theme.px(150), pane.width * 0.3))
                readonly property bool tight: width < Theme.px(200) // the tip has what there is no room for
                Layout.fillHeight: true
                model: Tools.llvm
                start: Tools.llvm.current
                onTaken: index => Tools.llvm.current = index
                delegate: URow {
                    id: row
                    required property int index
                    required property string name
                    required property string meaning
                    required property int added
                    required property int removed
                    owner: list
                    at: index
                    label: name + ": " + meaning
                    chosen: index === Tools.llvm.current
                    width: list.width
                    height: Theme.row
                    RowLayout {
                        anchors.fill: parent
                        anchors.leftMargin: Theme.px(12)
                        anchors.rightMargin: Theme.px(12)
                        spacing: Theme.px(6)
                        ULabel { text: row.index; color: Theme.textFaint; font.pixelSize: Theme.small; Layout.preferredWidth: Theme.px(20) }
                        ULabel { text: row.name; Layout.fillWidth: true }
                        ULabel { visible: row.added > 0 && !list.tight; text: "+" + row.added; color: Theme.added; font.pixelSize: Theme.small }
                        ULabel { visible: row.removed > 0 && !list.tight; text: "−" + row.removed; color: Theme.removed; font.pixelSize: Theme.small }
                    }
                    UTip { x: row.width + Theme.px(8); y: 0; visible: row.hovered && row.meaning.length > 0; text: row.name + ": " + row.meaning + (list.tight ? "\n+" + row.added + " −" + row.removed : "") }
                }
            }
            Rectangle { Layout.preferredWidth: 1; Layout.fillHeight: true; color: Theme.line }
            TextCompare {
                objectName: "llvmText"
                Layout.fillWidth: true
                Layout.fillHeight: true
                model: Tools.llvm.lines
                ULabel { visible: Tools.llvm.busy || Tools.llvm.problem.length > 0; anchors.centerIn: parent; width: parent.width - Theme.px(40); horizontalAlignment: Text.AlignHCenter; wrapMode: Text.Wrap; color: Theme.textFaint; text: Tools.llvm.busy ? qsTr("LLVM runs …") : Tools.llvm.problem }
            }
        }
    }
}
