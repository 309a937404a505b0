// A split view with a thin line that grows when pointed at.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

SplitView {
    id: split
    handle: Rectangle {
        implicitWidth: split.orientation === Qt.Horizontal ? 5 : split.width
        implicitHeight: split.orientation === Qt.Horizontal ? split.height : 5
        color: Theme.panel
        Rectangle {
            anchors.centerIn: parent
            width: split.orientation === Qt.Horizontal ? (lit ? 3 : 1) : parent.width
            height: split.orientation === Qt.Horizontal ? parent.height : (lit ? 3 : 1)
            readonly property bool lit: SplitHandle.hovered || SplitHandle.pressed
            color: SplitHandle.pressed ? Theme.accent : SplitHandle.hovered ? Theme.lineStrong : Theme.line
        }
    }
}
