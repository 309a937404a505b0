// A split view with a thin line that grows when pointed at.
import QtQuick
import QtQuick.Controls
import uopscope.core

SplitView {
    id: split
    handle: Rectangle {
        id: handle
        readonly property bool hot: SplitHandle.hovered || SplitHandle.pressed
        readonly property bool held: SplitHandle.pressed
        implicitWidth: split.orientation === Qt.Horizontal ? 5 : split.width
        implicitHeight: split.orientation === Qt.Horizontal ? split.height : 5
        color: Theme.panel
        Rectangle {
            anchors.centerIn: parent
            width: split.orientation === Qt.Horizontal ? (handle.hot ? 3 : 1) : parent.width
            height: split.orientation === Qt.Horizontal ? parent.height : (handle.hot ? 3 : 1)
            color: handle.held ? Theme.accent : handle.hot ? Theme.lineStrong : Theme.line
        }
    }
}
