// A short fact in a rounded frame: a count with its sign, a kind, a time. Where its row is too narrow for it, it ends
// with dots and tells the whole when pointed at.
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
    readonly property Flow flow: parent as Flow
    readonly property real wanted: (mark.visible ? mark.implicitWidth + row.spacing : 0) + label.implicitWidth + Theme.px(14)
    implicitWidth: flow && flow.width > 0 ? Math.min(wanted, flow.width) : wanted
    implicitHeight: Theme.px(21)
    radius: height / 2
    color: area.containsMouse && link ? Theme.hover : Theme.raised
    border.color: Theme.line
    Row {
        id: row
        anchors.centerIn: parent
        spacing: Theme.px(5)
        Text {
            id: mark
            textFormat: Text.PlainText
            visible: chip.sign.length > 0
            text: chip.sign
            color: chip.tone
            font.family: Theme.sans
            font.pixelSize: Theme.small
            font.bold: true
        }
        Text {
            id: label
            textFormat: Text.PlainText
            text: chip.text
            width: Math.max(0, Math.min(implicitWidth, chip.width - Theme.px(14) - (mark.visible ? mark.implicitWidth + row.spacing : 0)))
            elide: Text.ElideRight
            color: chip.link ? Theme.text : Theme.textMuted
            font.family: Theme.sans
            font.pixelSize: Theme.small
            font.underline: chip.link && area.containsMouse
        }
    }
    HoverHandler { id: over; enabled: label.truncated }
    Loader { active: over.hovered; sourceComponent: UTip { visible: true; text: chip.text } }
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
