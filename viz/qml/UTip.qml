// A tooltip for plain text, wrapped and cut after twelve lines.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

ToolTip {
    id: tip
    delay: 500
    padding: Theme.px(7)
    contentWidth: Math.min(label.implicitWidth, Theme.px(560))
    // Names and lines of a trace are plain text, whatever characters they contain.
    contentItem: Text {
        id: label
        text: tip.text
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        maximumLineCount: 12
        elide: Text.ElideRight
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
