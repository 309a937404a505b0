// A few choices side by side, one of them taken. options: [{value, text}]
import QtQuick
import uopscope.core

Rectangle {
    id: segments
    property var options: []
    property string value: ""
    signal picked(string value)
    implicitWidth: row.implicitWidth + 4
    implicitHeight: Theme.px(28)
    radius: 6
    color: Theme.window
    border.color: Theme.line
    Row {
        id: row
        x: 2
        y: 2
        height: parent.height - 4
        Repeater {
            model: segments.options
            Rectangle {
                required property var modelData
                readonly property bool taken: segments.value === modelData.value
                width: label.implicitWidth + Theme.px(18)
                height: row.height
                radius: 5
                color: taken ? Theme.selection : area.containsMouse ? Theme.hover : "transparent"
                ULabel {
                    id: label
                    anchors.centerIn: parent
                    text: parent.modelData.text
                    color: parent.taken ? Theme.text : Theme.textMuted
                    font.pixelSize: Theme.small
                    font.weight: parent.taken ? Font.DemiBold : Font.Normal
                }
                MouseArea {
                    id: area
                    anchors.fill: parent
                    hoverEnabled: true
                    onClicked: segments.picked(parent.modelData.value)
                }
            }
        }
    }
}
