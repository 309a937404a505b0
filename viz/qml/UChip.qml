// A short fact in a rounded frame: a count with its sign, a kind, a time.
import QtQuick
import uopscope.core

Rectangle {
    id: chip
    property string sign: ""
    property string text: ""
    property color tone: Theme.textMuted
    property bool dashed: false
    property bool link: false
    signal clicked()
    implicitWidth: row.implicitWidth + Theme.px(14)
    implicitHeight: Theme.px(21)
    radius: height / 2
    color: area.containsMouse && link ? Theme.hover : Theme.raised
    border.color: Theme.line
    Row {
        id: row
        anchors.centerIn: parent
        spacing: Theme.px(5)
        Text {
            textFormat: Text.PlainText
            visible: chip.sign.length > 0
            text: chip.sign
            color: chip.tone
            font.family: Theme.sans
            font.pixelSize: Theme.small
            font.bold: true
        }
        Text {
            textFormat: Text.PlainText
            text: chip.text
            color: chip.link ? Theme.text : Theme.textMuted
            font.family: Theme.sans
            font.pixelSize: Theme.small
            font.underline: chip.link && area.containsMouse
        }
    }
    UArea {
        id: area
        anchors.fill: parent
        enabled: chip.link
        name: chip.sign + " " + chip.text
        radius: chip.radius
        Accessible.ignored: !chip.link
        cursorShape: chip.link ? Qt.PointingHandCursor : Qt.ArrowCursor
        onClicked: chip.clicked()
    }
}
