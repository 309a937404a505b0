// A titled part of the details pane that can be folded. Only its body is a layout: a layout of layouts whose texts
// wrap asks for its size until Qt gives up.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Column {
    id: section
    property string title: ""
    property string detail: ""
    property bool open: true
    default property alias content: body.data
    width: parent?.width ?? 0
    bottomPadding: open ? Theme.px(12) : 0
    Item {
        width: section.width
        height: Theme.px(30)
        Rectangle { width: parent.width; height: 1; color: Theme.line }
        Row {
            x: Theme.px(10)
            height: parent.height
            spacing: Theme.px(6)
            Icon { name: section.open ? "down" : "right"; width: Theme.px(12); height: width; color: Theme.textFaint; anchors.verticalCenter: parent.verticalCenter }
            Text {
                textFormat: Text.PlainText
                elide: Text.ElideRight
                width: Math.min(implicitWidth, section.width - Theme.px(36) - (more.text.length > 0 ? more.implicitWidth + Theme.px(6) : 0))
                text: section.title.toUpperCase()
                color: Theme.textMuted
                font.family: Theme.sans
                font.pixelSize: Theme.px(10.5)
                font.weight: Font.DemiBold
                font.letterSpacing: 0.9
                anchors.verticalCenter: parent.verticalCenter
            }
            ULabel { id: more; text: section.detail; color: Theme.textFaint; font.pixelSize: Theme.small; anchors.verticalCenter: parent.verticalCenter }
        }
        UArea { anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: section.title; Accessible.checkable: true; Accessible.checked: section.open; onClicked: section.open = !section.open }
    }
    ColumnLayout {
        id: body
        visible: section.open
        spacing: Theme.px(6)
        x: Theme.px(14)
        width: section.width - 2 * x
    }
}
