// The canvas with the controls over it: search, tools, legend, overview, and the step's changes in numbers.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Item {
    id: pane
    property alias canvas: canvas
    property bool showMap: true
    property bool showLegend: false
    property bool searching: false
    // A search covers the whole pass, so nodes that only the map shows would not be found.
    // Escape gives the view back, unless a node was gone to that it would not show.
    property var before: null
    function search() {
        if (!searching) before = { group: Tools.graph.groupBy, alone: Session.stepAlone };
        if (Tools.graph.levels.length > 0) Tools.graph.groupBy = "nothing";
        if (Session.graph.elsewhere + Session.graph.foldedExpressions + Session.graph.groups > 0) Session.stepAlone = false;
        searching = true;
        field.forceActiveFocus();
        field.selectAll();
    }
    function endSearch() {
        const gone = Session.graph.foundIndex >= 0;
        searching = false;
        field.text = "";
        Session.graph.search("");
        if (before !== null && !gone) {
            Tools.graph.groupBy = before.group;
            Session.stepAlone = before.alone;
        }
        before = null;
        canvas.forceActiveFocus();
    }

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
        onNodeDoubleClicked: id => { if (id >= 0xF0000000) Tools.graph.toggleGroup(id); else Session.node = id; }
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
    Rectangle {
        objectName: "searchBox"
        visible: pane.searching
        x: Theme.px(12)
        y: bar.height + Theme.px(8)
        width: Math.min(Theme.px(430), canvas.width - Theme.px(16))
        height: Theme.px(40)
        radius: 8
        color: Theme.raised
        border.color: Theme.lineStrong
        RowLayout {
            anchors.fill: parent
            anchors.margins: Theme.px(6)
            spacing: Theme.px(4)
            UField {
                id: field
                objectName: "searchField"
                hint: qsTr("ADD, op:ADD dtype:float* line:12 users>3, /regex/")
                Layout.fillWidth: true
                onTextChanged: Session.graph.search(text)
                Keys.onReturnPressed: event => Session.graph.nextFound(event.modifiers & Qt.ShiftModifier ? -1 : 1)
                Keys.onEnterPressed: Session.graph.nextFound(1)
                Keys.onEscapePressed: pane.endSearch()
            }
            ULabel {
                text: Session.graph.searchProblem.length > 0 ? Session.graph.searchProblem : field.text.length === 0 ? "" : Session.graph.foundCount === 0 ? qsTr("none") : Session.graph.foundIndex < 0 ? Session.graph.foundCount : (Session.graph.foundIndex + 1) + " / " + Session.graph.foundCount
                color: Session.graph.foundCount === 0 ? Theme.removed : Theme.textMuted
                font.pixelSize: Theme.small
            }
            UButton { icon16: "previous"; tip: qsTr("Previous (Shift F3)"); onClicked: Session.graph.nextFound(-1) }
            UButton { icon16: "next"; tip: qsTr("Next (F3)"); onClicked: Session.graph.nextFound(1) }
            UButton { icon16: "close"; tip: qsTr("Close (Esc)"); onClicked: pane.endSearch() }
        }
    }
    Rectangle {
        id: bar
        readonly property bool narrow: colours.wholeWidth + groups.wholeWidth + layouts.wholeWidth + Theme.px(28) > width
        readonly property real together: colours.wanted + groups.wanted + layouts.wanted + 2 * pickers.spacing + tools.whole + Theme.px(24)
        readonly property bool stacked: together > width && !pane.low
        width: parent.width
        height: visible ? (stacked ? tools.y + tools.height : Math.max(pickers.height, tools.height) + pickers.y) + Theme.px(4) : 0
        visible: !Theme.presenting
        color: Theme.panel
        Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        Flickable {
            id: line
            anchors.fill: parent
            contentWidth: pane.low ? Math.max(width, bar.together) : width
            flickableDirection: Flickable.HorizontalFlick
            boundsBehavior: Flickable.StopAtBounds
            interactive: contentWidth > width
            clip: true
            Flow {
                id: pickers
                x: Theme.px(8)
                y: Theme.px(4)
                width: line.contentWidth - Theme.px(16)
                spacing: Theme.px(6)
                UPicker {
                    id: colours
                    objectName: "colourPicker"
                    label: qsTr("Colour")
                    brief: bar.narrow
                    value: Session.graph.colourBy
                    options: Tools.graph.colourings
                    onPicked: value => Session.graph.colourBy = value
                }
                UPicker {
                    id: groups
                    objectName: "groupPicker"
                    label: qsTr("Collapse")
                    brief: bar.narrow
                    value: Tools.graph.groupBy
                    options: Tools.graph.groupings
                    onPicked: value => Tools.graph.groupBy = value
                }
                UPicker {
                    id: layouts
                    objectName: "layoutPicker"
                    label: qsTr("Layout")
                    brief: bar.narrow
                    value: Session.layoutBy
                    options: [{ value: "layered", text: qsTr("by ranks") }, { value: "dot", text: qsTr("Graphviz dot") }]
                    onPicked: value => Session.layoutBy = value
                }
            }
            Flow {
                id: tools
                readonly property real whole: { let sum = 0; for (let k = 0; k < children.length; ++k) sum += (children[k]?.wanted ?? children[k]?.width ?? 0) + spacing; return sum; }
                x: bar.stacked ? Theme.px(8) : line.contentWidth - width - Theme.px(8)
                y: bar.stacked ? pickers.y + pickers.height + Theme.px(4) : pickers.y
                width: Math.min(whole, line.contentWidth - Theme.px(16))
                spacing: 2
                UButton { icon16: "fit"; tip: qsTr("Whole graph (Space)"); onClicked: canvas.fit() }
                UButton { icon16: "minus"; tip: qsTr("Farther (−)"); onClicked: canvas.zoomBy(1 / 1.35) }
                ULabel {
                    width: Theme.px(44)
                    height: Theme.px(28)
                    horizontalAlignment: Text.AlignHCenter
                    text: Math.round(canvas.zoom * 100) + " %"
                    color: Theme.textMuted
                    font.pixelSize: Theme.small
                    UArea { anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: qsTr("Zoom %1, to actual size").arg(parent.text); onClicked: canvas.resetZoom() }
                }
                UButton { icon16: "plus"; tip: qsTr("Closer (+)"); onClicked: canvas.zoomBy(1.35) }
                Item { width: 1; height: Theme.px(28); Rectangle { width: 1; height: Theme.px(18); color: Theme.line; anchors.verticalCenter: parent.verticalCenter } }
                UButton { icon16: "target"; on: canvas.follow; tip: qsTr("Follow the changes while stepping (L)"); onClicked: canvas.follow = !canvas.follow }
                UButton { objectName: "toggleFold"; icon16: "fold"; on: Session.foldLabels; tip: qsTr("Constants, hubs and short expressions written into labels, lanes in one box (C)"); onClicked: Session.foldLabels = !Session.foldLabels }
                UButton { objectName: "stepAlone"; icon16: "compact"; on: Session.stepAlone; tip: qsTr("What the step changes and its neighbourhood, or the whole pass (Z)"); onClicked: Session.stepAlone = !Session.stepAlone }
                UButton { objectName: "toggleTurn"; icon16: "turn"; on: Session.leftToRight; tip: qsTr("Left to right (R)"); onClicked: Session.leftToRight = !Session.leftToRight }
                UButton { icon16: "map"; on: pane.showMap; tip: qsTr("Overview (M)"); onClicked: pane.showMap = !pane.showMap }
                UButton { objectName: "toggleNumbers"; icon16: "number"; on: Tools.values.on; tip: qsTr("Numbers on the nodes (Y)"); onClicked: Tools.values.on = !Tools.values.on }
                UButton { objectName: "toggleLegend"; icon16: "legend"; on: pane.showLegend; tip: qsTr("Legend (Shift L)"); onClicked: pane.showLegend = !pane.showLegend }
            }
        }
    }
    ValueBar {
        id: numbers
        objectName: "graphValues"
        visible: Tools.values.on && !Theme.presenting
        most: pane.height * 0.2
        width: parent.width
        height: visible ? implicitHeight : 0
        y: bar.height
    }
    // The levels of layers: a click leads back up.
    Rectangle {
        id: crumbs
        visible: Tools.graph.levels.length > 0
        width: parent.width
        height: visible ? trail.height + Theme.px(12) : 0
        y: bar.height + numbers.height
        color: Theme.panel
        Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        Flow {
            id: trail
            x: Theme.px(10)
            y: Theme.px(6)
            width: parent.width - Theme.px(20)
            spacing: Theme.px(6)
            Repeater {
                model: Tools.graph.levels
                UChip {
                    required property var modelData
                    required property int index
                    readonly property bool here: index === Tools.graph.levels.length - 1
                    objectName: "level-" + index
                    sign: index === 0 ? "▣" : "›"
                    text: modelData.text
                    tone: here ? Theme.accent : Theme.textMuted
                    link: !here
                    onClicked: Tools.graph.openLevel(modelData.path)
                }
            }
            ULabel { visible: Session.graph.outside > 0; height: Theme.px(21); verticalAlignment: Text.AlignVCenter; text: qsTr("%1 nodes elsewhere").arg(Session.graph.outside); font.pixelSize: Theme.small; color: Theme.textFaint }
        }
    }
    Rectangle {
        visible: pane.showLegend
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.topMargin: bar.height + numbers.height + crumbs.height + Theme.px(8)
        anchors.rightMargin: Theme.px(12)
        width: Math.min(Theme.px(268), canvas.width - Theme.px(16))
        height: Math.min(legend.height + Theme.px(24), canvas.height - Theme.px(16))
        radius: 8
        color: Theme.raised
        border.color: Theme.line
        Flickable {
            anchors.fill: parent
            anchors.margins: Theme.px(12)
            contentHeight: legend.height
            interactive: contentHeight > height
            boundsBehavior: Flickable.StopAtBounds
            clip: true
            ScrollBar.vertical: UScrollBar {}
            Column {
                id: legend
                x: Theme.px(2)
                width: parent.width - Theme.px(4)
                spacing: Theme.px(6)
                Repeater {
                    model: [["+", qsTr("added by the step"), Theme.added], ["−", qsTr("removed: dashed, struck through"), Theme.removed], ["~", qsTr("rebuilt: a source changed"), Theme.modified]]
                    Row {
                        id: sign
                        required property var modelData
                        spacing: Theme.px(8)
                        Rectangle {
                            width: Theme.px(18); height: width; radius: width / 2; color: sign.modelData[2]
                            Text { anchors.centerIn: parent; text: sign.modelData[0]; color: Theme.dark ? "#10131a" : "white"; font.bold: true; font.pixelSize: Theme.px(12) }
                        }
                        ULabel { text: parent.modelData[1]; width: legend.width - Theme.px(26); wrapMode: Text.Wrap; font.pixelSize: Theme.small; color: Theme.textMuted; anchors.verticalCenter: parent.verticalCenter }
                    }
                }
                Rectangle { width: parent.width; height: 1; color: Theme.line }
                Repeater {
                    model: Session.graph.legend
                    Row {
                        required property var modelData
                        spacing: Theme.px(8)
                        Rectangle { width: Theme.px(18); height: Theme.px(12); radius: 3; color: Theme.dark, Theme.tintColour(parent.modelData.colour, Session.graph.legendOrdered); anchors.verticalCenter: parent.verticalCenter }
                        ULabel { text: parent.modelData.text; width: Theme.px(160); font.pixelSize: Theme.small; color: Theme.textMuted }
                        ULabel { text: parent.modelData.count; font.pixelSize: Theme.small; color: Theme.textFaint }
                    }
                }
                Repeater {
                    model: Session.graph.colourBy === "op" ? 12 : 0
                    Row {
                        required property int index
                        spacing: Theme.px(8)
                        Rectangle { width: Theme.px(18); height: Theme.px(12); radius: 3; color: Theme.dark, Theme.familyColour(parent.index); anchors.verticalCenter: parent.verticalCenter }
                        ULabel { text: Theme.familyName(parent.index); font.pixelSize: Theme.small; color: Theme.textMuted }
                    }
                }
            }
        }
    }
    Rectangle {
        id: foot
        anchors.bottom: parent.bottom
        width: parent.width
        height: rows.height + Theme.px(10)
        color: Theme.panel
        Rectangle { width: parent.width; height: 1; color: Theme.line }
    }
    Flickable { // in a low pane one line, which scrolls
        id: rows
        anchors.left: parent.left
        anchors.bottom: parent.bottom
        anchors.margins: Theme.px(5)
        anchors.leftMargin: Theme.px(10)
        width: parent.width - Theme.px(20)
        height: chips.height
        contentWidth: pane.low ? chips.childrenRect.width : width
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        interactive: contentWidth > width
        clip: true
        Flow {
            id: chips
            width: pane.low ? 100000 : rows.width
            spacing: Theme.px(6)
            visible: !Session.graph.empty
            UChip { visible: Session.graph.added > 0; sign: "+"; tone: Theme.added; text: qsTr("%1 added").arg(Session.graph.added); link: true; onClicked: canvas.showChange() }
            UChip { visible: Session.graph.removed > 0; sign: "−"; tone: Theme.removed; text: qsTr("%1 removed").arg(Session.graph.removed) + (Session.graph.covered > 0 ? qsTr(", %1 of them not drawn").arg(Session.graph.covered) : ""); link: true; onClicked: canvas.showChange() }
            UChip { visible: Session.graph.changed > 0; sign: "~"; tone: Theme.modified; text: qsTr("%1 rebuilt").arg(Session.graph.changed); link: true; onClicked: canvas.showChange() }
            UChip { objectName: "differChip"; visible: Tools.values.on && Tools.values.differing > 0; sign: "✗"; tone: Theme.error; text: Tools.values.differing === 1 ? qsTr("1 number differs") : qsTr("%1 numbers differ").arg(Tools.values.differing); link: true; onClicked: { Tools.values.onlyDiffering = true; Session.tab = "values"; } }
            UChip { text: qsTr("%1 nodes").arg(Session.graph.nodeCount) }
            UChip { visible: Session.graph.foldedConstants > 0; text: qsTr("%1 constants in labels").arg(Session.graph.foldedConstants); link: true; onClicked: Session.foldLabels = false }
            UChip { objectName: "expressionsChip"; visible: Session.graph.foldedExpressions > 0; text: qsTr("%1 expressions in labels").arg(Session.graph.foldedExpressions); link: true; onClicked: Session.foldLabels = false }
            UChip { visible: Session.graph.hiddenEdges > 0; text: qsTr("%1 hub edges in labels").arg(Session.graph.hiddenEdges); link: true; onClicked: Session.foldLabels = false }
            UChip { visible: !Session.foldLabels; text: qsTr("everything drawn"); link: true; onClicked: Session.foldLabels = true }
            UChip { objectName: "hiddenChip"; visible: Session.graph.hiddenNodes > 0; sign: "○"; tone: Theme.warning; text: qsTr("%1 nodes hidden").arg(Session.graph.hiddenNodes); link: true; onClicked: Tools.graph.showAll() }
            UChip { objectName: "groupChip"; visible: Session.graph.groups > 0; sign: "▣"; readonly property bool lanes: Tools.graph.groupBy === "nothing"; readonly property string many: (lanes ? qsTr("%1 lanes in %2 boxes") : qsTr("%1 nodes in %2 groups")).arg(Session.graph.groupedNodes).arg(Session.graph.groups); readonly property string one: (lanes ? qsTr("%1 lanes in one box") : qsTr("%1 nodes in one group")).arg(Session.graph.groupedNodes); text: Session.graph.groups === 1 ? one : many; link: true; onClicked: if (lanes) Session.foldLabels = false; else Tools.graph.groupBy = "nothing" }
            UChip { objectName: "elsewhereChip"; visible: Session.graph.elsewhere > 0; sign: "○"; text: qsTr("%1 farther away").arg(Session.graph.elsewhere); link: true; onClicked: Session.stepAlone = false }
            UChip { objectName: "wholeChip"; visible: !Session.stepAlone; text: qsTr("the pass in one layout"); link: true; onClicked: Session.stepAlone = true }
            UChip { objectName: "layoutChip"; visible: Session.graph.layoutNote.length > 0; sign: "!"; tone: Theme.warning; text: qsTr("Layout by ranks: %1").arg(Session.graph.layoutNote); link: true; onClicked: Session.layoutBy = "layered" }
            UChip { visible: Session.interval > 1; sign: "Δ"; tone: Theme.accent; text: qsTr("changes of %1 steps").arg(Session.interval); link: true; onClicked: Session.interval = 1 }
        }
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
