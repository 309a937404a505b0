// The controls above a graph: its colours, grouping and layout, and the tools of its canvas. The tools stand below the choices
// where the two do not fit beside each other.
//
//   GraphBar { canvas: canvas; low: pane.low; width: parent.width }
import QtQuick
import uopscope.core

Rectangle {
    id: bar
    required property GraphCanvas canvas
    required property bool low ///< the controls stand in one line that scrolls
    property bool showMap: true
    property bool showLegend: false
    readonly property bool narrow: colours.wholeWidth + groups.wholeWidth + layouts.wholeWidth + Theme.px(28) > width
    readonly property real together: colours.wanted + groups.wanted + layouts.wanted + 2 * pickers.spacing + tools.whole + Theme.px(24)
    readonly property bool stacked: together > width && !low
    height: visible ? (stacked ? tools.y + tools.height : Math.max(pickers.height, tools.height) + pickers.y) + Theme.px(4) : 0
    visible: !Theme.presenting
    color: Theme.panel
    Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
    Flickable {
        id: line
        anchors.fill: parent
        contentWidth: bar.low ? Math.max(width, bar.together) : width
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
            UButton { icon16: "fit"; tip: qsTr("Whole graph (Space)"); onClicked: bar.canvas.fit() }
            UButton { icon16: "minus"; tip: qsTr("Farther (−)"); onClicked: bar.canvas.zoomBy(1 / 1.35) }
            ULabel {
                width: Theme.px(44)
                height: Theme.px(28)
                horizontalAlignment: Text.AlignHCenter
                text: Math.round(bar.canvas.zoom * 100) + " %"
                color: Theme.textMuted
                font.pixelSize: Theme.small
                UArea { anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: qsTr("Zoom %1, to actual size").arg(parent.text); onClicked: bar.canvas.resetZoom() }
            }
            UButton { icon16: "plus"; tip: qsTr("Closer (+)"); onClicked: bar.canvas.zoomBy(1.35) }
            Item { width: 1; height: Theme.px(28); Rectangle { width: 1; height: Theme.px(18); color: Theme.line; anchors.verticalCenter: parent.verticalCenter } }
            UButton { icon16: "target"; on: bar.canvas.follow; tip: qsTr("Follow the changes while stepping (L)"); onClicked: bar.canvas.follow = !bar.canvas.follow }
            UButton { objectName: "toggleFold"; icon16: "fold"; on: Session.foldLabels; tip: qsTr("Constants, hubs and short expressions written into labels, lanes in one box (C)"); onClicked: Session.foldLabels = !Session.foldLabels }
            UButton { objectName: "stepAlone"; icon16: "compact"; on: Session.stepAlone; tip: qsTr("What the step changes and its neighbourhood, or the whole pass (Z)"); onClicked: Session.stepAlone = !Session.stepAlone }
            UButton { objectName: "toggleTurn"; icon16: "turn"; on: Session.leftToRight; tip: qsTr("Left to right (R)"); onClicked: Session.leftToRight = !Session.leftToRight }
            UButton { icon16: "map"; on: bar.showMap; tip: qsTr("Overview (M)"); onClicked: bar.showMap = !bar.showMap }
            UButton { objectName: "toggleNumbers"; icon16: "number"; on: Tools.values.on; tip: qsTr("Numbers on the nodes (Y)"); onClicked: Tools.values.on = !Tools.values.on }
            UButton { objectName: "toggleLegend"; icon16: "legend"; on: bar.showLegend; tip: qsTr("Legend (Shift L)"); onClicked: bar.showLegend = !bar.showLegend }
        }
    }
}
