// A plain text in the window's font; a longer one is cut with dots.
import QtQuick
import uopscope.core

Text {
    property bool mono: false
    color: Theme.text
    font.family: mono ? Theme.mono : Theme.sans
    font.pixelSize: Theme.body
    textFormat: Text.PlainText
    elide: Text.ElideRight
    verticalAlignment: Text.AlignVCenter
}
