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
        // Either way round, or a line that turns would for one layout be as thick as the view is wide, and keep it.
        implicitWidth: 5
        implicitHeight: 5
        color: Theme.panel
        readonly property bool upright: split.orientation === Qt.Horizontal
        readonly property real thick: hot ? 3 : 1
        readonly property color tone: held ? Theme.accent : hot ? Theme.lineStrong : Theme.line
        Rectangle { visible: handle.upright; x: (parent.width - width) / 2; width: handle.thick; height: parent.height; color: handle.tone }
        Rectangle { visible: !handle.upright; y: (parent.height - height) / 2; width: parent.width; height: handle.thick; color: handle.tone }
    }
}
