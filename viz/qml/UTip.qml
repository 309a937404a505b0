import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

ToolTip {
    id: tip
    delay: 500
    padding: Theme.px(7)
    contentItem: Text {
        text: tip.text
        color: Theme.text
        font.family: Theme.sans
        font.pixelSize: Theme.small
    }
    background: Rectangle {
        color: Theme.raised
        radius: 5
        border.color: Theme.lineStrong
    }
}
