// A file that could not be opened or recorded: the fault, and the remedy.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: page
    signal openAsked()
    color: Theme.canvas
    readonly property var parts: Session.errorText.split("\n\n")
    UScroll {
        anchors.fill: parent
        needed: column.implicitHeight + Theme.px(40)
        ColumnLayout {
            id: column
            width: Math.min(parent.width - Theme.px(80), Theme.px(720))
            anchors.centerIn: parent
            spacing: Theme.px(14)
            RowLayout {
                spacing: Theme.px(14)
                Icon { name: "warning"; implicitWidth: Theme.px(30); implicitHeight: implicitWidth; color: Theme.error }
                ULabel { text: Session.recorder.problem.length > 0 ? qsTr("The script could not be recorded") : qsTr("This file cannot be opened"); font.pixelSize: Theme.px(20); font.weight: Font.DemiBold; Layout.fillWidth: true }
            }
            ULabel { objectName: "errorText"; text: page.parts[0]; wrapMode: Text.Wrap; color: Theme.text; lineHeight: 1.2; Layout.fillWidth: true }
            Rectangle {
                visible: page.parts.length > 1 && page.parts.slice(1).join("").trim().length > 0
                Layout.fillWidth: true
                implicitHeight: Math.min(Theme.px(300), output.implicitHeight + Theme.px(20))
                radius: 8
                color: Theme.window
                border.color: Theme.line
                ScrollView {
                    anchors.fill: parent
                    anchors.margins: Theme.px(10)
                    TextArea { id: output; Accessible.name: qsTr("What the script printed"); readOnly: true; text: page.parts.slice(1).join("\n\n"); color: Theme.text; font.family: Theme.mono; font.pixelSize: Theme.px(12); background: null; selectByMouse: true }
                }
            }
            Flow {
                Layout.fillWidth: true
                spacing: Theme.px(8)
                UButton { primary: true; icon16: "open"; text: qsTr("Open another file"); onClicked: page.openAsked() }
                UButton { quiet: false; visible: Session.recorder.script.length > 0; icon16: "record"; text: qsTr("Record again"); onClicked: Session.recordAgain() }
                UButton { objectName: "errorBack"; quiet: false; text: qsTr("Back to the start"); onClicked: Session.close() }
            }
        }
    }
}
