// The map in the corner of a canvas: all of the graph, and where in it the canvas is. A press or a drag asks to
// look there.
//
//   GraphMap { canvas: canvas; source: Session.graph; anchors.bottom: parent.bottom; onAsked: (x, y) => look(x, y) }
import QtQuick
import uopscope.core

Rectangle {
    id: map
    required property GraphCanvas canvas
    required property GraphSource source
    /// Not all of the graph is in view.
    readonly property bool cut: canvas.bounds.width * canvas.zoom > canvas.width * 1.05 || canvas.bounds.height * canvas.zoom > canvas.height * 1.05
    signal asked(real x, real y)
    function look(x, y) {
        const p = mini.toGraph(x, y);
        canvas.lookAtPoint(p.x, p.y);
    }
    function nearest(x, y) { return mini.nearest(x, y); }
    anchors.right: parent.right
    anchors.margins: Theme.px(12)
    height: Math.min(Theme.px(140), parent.height * 0.3)
    radius: 8
    color: Theme.panel
    opacity: 0.94
    border.color: Theme.line
    MiniMap {
        id: mini
        anchors.fill: parent
        anchors.margins: 2
        source: map.source
        theme: Theme
        viewRect: map.canvas.viewRect
        Accessible.role: Accessible.Graphic
        Accessible.name: qsTr("Overview of the graph")
        MouseArea {
            anchors.fill: parent
            onPressed: mouse => map.asked(mouse.x, mouse.y)
            onPositionChanged: mouse => map.asked(mouse.x, mouse.y)
        }
    }
}
