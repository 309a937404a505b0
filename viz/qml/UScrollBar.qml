// A thin scroll bar in the theme's colours.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

ScrollBar {
    id: bar
    minimumSize: 0.06
    padding: 2
    contentItem: Rectangle {
        implicitWidth: Theme.px(7)
        implicitHeight: Theme.px(7)
        radius: width / 2
        color: bar.pressed ? Theme.textFaint : Theme.lineStrong
        opacity: bar.size < 1 ? (bar.active || bar.hovered ? 0.95 : 0.5) : 0
    }
    background: Item {}
}
