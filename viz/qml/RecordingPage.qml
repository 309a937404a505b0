// A script is running, and its compilation has no content to show yet.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    color: Theme.canvas
    ColumnLayout {
        width: Math.min(parent.width - Theme.px(80), Theme.px(720))
        height: Math.min(parent.height - Theme.px(80), Theme.px(520))
        anchors.centerIn: parent
        spacing: Theme.px(12)
        RowLayout {
            spacing: Theme.px(12)
            Rectangle {
                implicitWidth: Theme.px(12)
                implicitHeight: implicitWidth
                radius: width / 2
                color: Theme.error
                SequentialAnimation on opacity {
                    running: Theme.animated
                    loops: Animation.Infinite
                    NumberAnimation { from: 1; to: 0.25; duration: 700 }
                    NumberAnimation { from: 0.25; to: 1; duration: 700 }
                }
            }
            ULabel { text: qsTr("Recording %1").arg(Session.fileName); font.pixelSize: Theme.px(20); font.weight: Font.DemiBold; Layout.fillWidth: true }
            ULabel { text: qsTr("%1 s").arg(Session.recorder.seconds.toFixed(1)); color: Theme.textMuted }
            UButton { objectName: "cancelRecording"; quiet: false; icon16: "stop"; text: qsTr("Cancel"); onClicked: Session.recorder.cancel() }
        }
        ULabel { text: qsTr("The script runs in a process of its own. What it compiles appears here as soon as there is a first rewrite."); color: Theme.textMuted; wrapMode: Text.Wrap; Layout.fillWidth: true }
        Rectangle {
            Layout.fillWidth: true
            Layout.fillHeight: true
            radius: 8
            color: Theme.window
            border.color: Theme.line
            UTextScroll {
                anchors.fill: parent
                anchors.margins: Theme.px(10)
                TextArea {
                    readOnly: true
                    Accessible.name: qsTr("What the script prints")
                    text: Session.recorder.output
                    placeholderText: qsTr("The script has printed nothing yet.")
                    placeholderTextColor: Theme.textFaint
                    color: Theme.text
                    font.family: Theme.mono
                    font.pixelSize: Theme.px(12)
                    background: null
                }
            }
        }
    }
}
