// A split view with a thin line that grows when hovered.
import QtQuick
import QtQuick.Controls
import uopscope.core

SplitView {
    id: split
    // A line moved by hand keeps its place when the window changes its size, so the widths lose their
    // bindings.
    function keep() {
        for (let i = 0; i < count; ++i) {
            const pane = itemAt(i);
            if (orientation === Qt.Horizontal && pane.SplitView.preferredWidth >= 0) pane.SplitView.preferredWidth = pane.SplitView.preferredWidth;
            if (orientation === Qt.Vertical && pane.SplitView.preferredHeight >= 0) pane.SplitView.preferredHeight = pane.SplitView.preferredHeight;
        }
    }
    function restore(state) { if (restoreState(state)) keep(); }
    onResizingChanged: if (!resizing) keep()
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
