// The picture in numbers, below a graph: what the step changed, and what is drawn in labels, in boxes or not at all. A click
// on a chip shows what it counts.
//
//   GraphChips { low: pane.low; onChangeAsked: canvas.showChange() }
import QtQuick
import uopscope.core

Rectangle {
    id: foot
    required property bool low ///< the chips stand in one line that scrolls
    signal changeAsked()
    height: rows.height + Theme.px(10)
    color: Theme.panel
    Rectangle { width: parent.width; height: 1; color: Theme.line }
    Flickable {
        id: rows
        anchors.left: parent.left
        anchors.bottom: parent.bottom
        anchors.margins: Theme.px(5)
        anchors.leftMargin: Theme.px(10)
        width: parent.width - Theme.px(20)
        height: chips.height
        contentWidth: foot.low ? chips.childrenRect.width : width
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        interactive: contentWidth > width
        clip: true
        Flow {
            id: chips
            width: foot.low ? 100000 : rows.width
            spacing: Theme.px(6)
            visible: !Session.graph.empty
            UChip { visible: Session.graph.added > 0; sign: "+"; tone: Theme.added; text: qsTr("%1 added").arg(Session.graph.added); link: true; onClicked: foot.changeAsked() }
            UChip { visible: Session.graph.removed > 0; sign: "−"; tone: Theme.removed; text: qsTr("%1 removed").arg(Session.graph.removed) + (Session.graph.covered > 0 ? qsTr(", %1 of them not drawn").arg(Session.graph.covered) : ""); link: true; onClicked: foot.changeAsked() }
            UChip { visible: Session.graph.changed > 0; sign: "~"; tone: Theme.modified; text: qsTr("%1 rebuilt").arg(Session.graph.changed); link: true; onClicked: foot.changeAsked() }
            UChip { objectName: "differChip"; visible: Tools.values.on && Tools.values.differing > 0; sign: "✗"; tone: Theme.error; text: Tools.values.differing === 1 ? qsTr("1 number differs") : qsTr("%1 numbers differ").arg(Tools.values.differing); link: true; onClicked: { Tools.values.onlyDiffering = true; Session.tab = "values"; } }
            UChip { text: Session.graph.nodeCount === 1 ? qsTr("1 node") : qsTr("%1 nodes").arg(Session.graph.nodeCount) }
            UChip { visible: Session.graph.foldedConstants > 0; text: Session.graph.foldedConstants === 1 ? qsTr("1 constant in a label") : qsTr("%1 constants in labels").arg(Session.graph.foldedConstants); link: true; onClicked: Session.foldLabels = false }
            UChip { objectName: "expressionsChip"; visible: Session.graph.foldedExpressions > 0; text: Session.graph.foldedExpressions === 1 ? qsTr("1 expression in a label") : qsTr("%1 expressions in labels").arg(Session.graph.foldedExpressions); link: true; onClicked: Session.foldLabels = false }
            UChip { visible: Session.graph.hiddenEdges > 0; text: Session.graph.hiddenEdges === 1 ? qsTr("1 hub edge in a label") : qsTr("%1 hub edges in labels").arg(Session.graph.hiddenEdges); link: true; onClicked: Session.foldLabels = false }
            UChip { visible: !Session.foldLabels; text: qsTr("everything drawn"); link: true; onClicked: Session.foldLabels = true }
            UChip { objectName: "hiddenChip"; visible: Session.graph.hiddenNodes > 0; sign: "○"; tone: Theme.warning; text: Session.graph.hiddenNodes === 1 ? qsTr("1 node hidden") : qsTr("%1 nodes hidden").arg(Session.graph.hiddenNodes); link: true; onClicked: Tools.graph.showAll() }
            UChip {
                objectName: "groupChip"
                visible: Session.graph.groups > 0
                sign: "▣"
                readonly property bool lanes: Tools.graph.groupBy === "nothing"
                readonly property string many: (lanes ? qsTr("%1 lanes in %2 boxes") : qsTr("%1 nodes in %2 groups")).arg(Session.graph.groupedNodes).arg(Session.graph.groups)
                readonly property string one: (lanes ? qsTr("%1 lanes in one box") : qsTr("%1 nodes in one group")).arg(Session.graph.groupedNodes)
                text: Session.graph.groups === 1 ? one : many
                link: true
                onClicked: {
                    if (lanes) Session.foldLabels = false;
                    else Tools.graph.groupBy = "nothing";
                }
            }
            UChip { objectName: "elsewhereChip"; visible: Session.graph.elsewhere > 0; sign: "○"; text: qsTr("%1 farther away").arg(Session.graph.elsewhere); link: true; onClicked: Session.stepAlone = false }
            UChip { objectName: "wholeChip"; visible: !Session.stepAlone; text: qsTr("the pass in one layout"); link: true; onClicked: Session.stepAlone = true }
            UChip { objectName: "layoutChip"; visible: Session.graph.layoutNote.length > 0; sign: "!"; tone: Theme.warning; text: qsTr("Layout by ranks: %1").arg(Session.graph.layoutNote); link: true; onClicked: Session.layoutBy = "layered" }
            UChip { visible: Session.interval > 1; sign: "Δ"; tone: Theme.accent; text: qsTr("changes of %1 steps").arg(Session.interval); link: true; onClicked: Session.interval = 1 }
        }
    }
}
