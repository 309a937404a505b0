// The canvas with what stands around it: controls, levels, legend, map, and the picture in numbers. It shares the room of the pane
// out and tells the session how much of it the picture has.
import QtQuick
import uopscope.core

Item {
    id: pane
    property alias canvas: canvas
    property alias showMap: bar.showMap
    property alias showLegend: bar.showLegend
    readonly property alias searching: finder.searching
    function search() { finder.begin(); }
    function endSearch() { finder.end(); }

    // The node clicked on the map; it is shown once the layout of the pass has arrived.
    property real wanted: -1
    function goToWanted() {
        if (wanted >= 0) canvas.focusNode(wanted);
        wanted = -1;
    }
    Connections {
        target: Session.graph
        function onPictureChanged() {
            if (pane.wanted >= 0 && !Session.stepAlone) Qt.callLater(pane.goToWanted);
        }
    }
    readonly property bool low: height < Theme.px(380) ///< controls may not take the room of the graph
    readonly property real larger: Theme.presenting ? 1.6 : 1
    // The map stands beside the picture, not over its nodes, wherever not all of the graph can be read at once.
    readonly property real mapWidth: Math.min(Theme.px(200), width * 0.3)
    readonly property bool beside: showMap && width > Theme.px(600)
    readonly property bool besideSmall: beside && Session.stepAlone
    readonly property bool large: canvas.whole.width * 0.62 > width || canvas.whole.height * 0.62 > room
    readonly property bool mapBeside: beside && (Session.stepAlone ? Session.graph.elsewhere > 0 : large)
    // The line about a picture takes one line or two. The room of the picture does not depend on that, or the line would change.
    readonly property real room: height - bar.height - numbers.height - crumbs.height - Theme.px(66)
    function tellSize() { Session.setGraphPane((width - (besideSmall ? mapWidth + Theme.px(16) : 0)) / larger, room / larger); }
    onRoomChanged: tellSize()
    onLargerChanged: tellSize()
    onWidthChanged: tellSize()
    onBesideSmallChanged: tellSize()
    Rectangle { anchors.fill: parent; color: Theme.canvas }
    GraphCanvas {
        id: canvas
        anchors.rightMargin: pane.mapBeside ? pane.mapWidth + Theme.px(16) : 0
        objectName: "canvas"
        anchors.fill: parent
        anchors.topMargin: bar.height + numbers.height + crumbs.height
        anchors.bottomMargin: foot.height
        source: Session.graph
        theme: Theme
        focus: true
        // Describes the graph: its size, the step's changes to it, the selection.
        Accessible.role: Accessible.Graphic
        Accessible.focusable: true
        Accessible.name: Session.graph.empty ? qsTr("Graph, empty") : qsTr("Graph of %1, step %2 of %3: %4 nodes, %5 added, %6 removed, %7 rebuilt").arg(Session.passName).arg(Session.step).arg(Session.stepCount).arg(Session.graph.nodeCount).arg(Session.graph.added).arg(Session.graph.removed).arg(Session.graph.changed)
        Accessible.description: Session.node < 0 ? qsTr("Nothing is selected") : Session.nodeInfo.op === undefined ? qsTr("Node %1 is selected").arg(Session.node) : qsTr("Selected: %1, %2 sources, %3 users").arg([Session.nodeInfo.op].concat((Session.nodeInfo.facts || []).map(f => f.key + " " + f.value)).join(", ")).arg(Session.nodeInfo.sourceCount).arg(Session.nodeInfo.userCount)
        onNodeClicked: id => Session.node = id
        onNodeDoubleClicked: id => Tools.graph.enter(id)
        onNodeMoved: (id, x, y) => Tools.graph.pinAt(id, x, y)
        onBackgroundClicked: Session.node = -1
        Rectangle { visible: canvas.entered; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
    }
    Rectangle { // shown while work is under way
        visible: Session.busy
        width: parent.width
        height: 2
        color: Theme.line
        clip: true
        Rectangle {
            width: parent.width * 0.25
            height: 2
            color: Theme.accent
            SequentialAnimation on x {
                running: Session.busy && Theme.animated
                loops: Animation.Infinite
                NumberAnimation { from: -pane.width * 0.25; to: pane.width; duration: 900 }
            }
        }
    }
    GraphSearch {
        id: finder
        x: Theme.px(12)
        y: bar.height + Theme.px(8)
        width: Math.min(Theme.px(430), canvas.width - Theme.px(16))
        onEnded: canvas.forceActiveFocus()
    }
    GraphBar { id: bar; canvas: pane.canvas; low: pane.low; width: parent.width }
    ValueBar {
        id: numbers
        objectName: "graphValues"
        visible: Tools.values.on && !Theme.presenting
        most: pane.height * 0.2
        width: parent.width
        height: visible ? implicitHeight : 0
        y: bar.height
    }
    GraphLevels { id: crumbs; width: parent.width; y: bar.height + numbers.height }
    GraphLegend {
        visible: bar.showLegend
        canvas: pane.canvas
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.topMargin: canvas.anchors.topMargin + Theme.px(8)
        anchors.rightMargin: Theme.px(12)
    }
    GraphChips { id: foot; low: pane.low; anchors.bottom: parent.bottom; width: parent.width; onChangeAsked: canvas.showChange() }
    // The map's column: the picture ends at its edge, and is not cut off in the open.
    Rectangle {
        visible: pane.mapBeside && map.visible
        x: canvas.x + canvas.width
        y: canvas.y
        width: pane.width - x
        height: canvas.height
        color: Theme.panel
        Rectangle { width: 1; height: parent.height; color: Theme.line }
    }
    GraphMap {
        id: map
        objectName: "map"
        visible: pane.showMap && !Session.graph.empty && (pane.mapBeside || (Session.graph.elsewhere === 0 && cut))
        canvas: pane.canvas
        source: Session.graph
        anchors.bottom: foot.top
        width: pane.mapWidth
        onAsked: (x, y) => {
            if (!Session.stepAlone) return look(x, y);
            pane.wanted = nearest(x, y);
            Session.stepAlone = false;
        }
    }
    ULabel {
        visible: Session.graph.empty && !Session.busy && Session.state === "ready"
        anchors.centerIn: parent
        color: Theme.textFaint
        text: Session.pass > 0 ? qsTr("This pass has no graph.") : Session.growing ? qsTr("Waiting for the first pass…") : qsTr("Nothing was rewritten in this trace.")
    }
}
