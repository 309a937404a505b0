// The name of a key in a small frame, like a key cap.
import QtQuick
import uopscope.core

Rectangle {
    property alias text: label.text
    implicitWidth: Math.max(implicitHeight, label.implicitWidth + Theme.px(10))
    implicitHeight: Theme.px(20)
    radius: 4
    color: Theme.raised
    border.color: Theme.lineStrong
    Text {
        textFormat: Text.PlainText
        id: label
        anchors.centerIn: parent
        color: Theme.textMuted
        font.family: Theme.sans
        font.pixelSize: Theme.px(10.5)
    }
}
