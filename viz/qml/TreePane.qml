// Script > schedule > kernel > pass, with step counts.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    color: Theme.panel
    signal filterLeft() ///< the filter is done: keys belong to the graph again
    function showLlvm(scope) { if (scope !== Session.scope) Session.goToScope(scope); Session.tab = "ir"; Tools.llvm.open = true; }
    function focusFilter() { filter.forceActiveFocus(); filter.selectAll(); }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        PaneHeader {
            title: qsTr("Trace")
            detail: Session.summary.steps ? (Session.summary.kernels === 1 ? qsTr("1 kernel · %1 steps") : qsTr("%1 kernels · %2 steps").arg(Session.summary.kernels)).arg(Session.summary.steps) : ""
            brief: Session.summary.steps ? qsTr("%1 steps").arg(Session.summary.steps) : ""
            Layout.fillWidth: true
            UButton { icon16: "fold"; tip: qsTr("Fold all"); onClicked: Session.tree.expandAll(false) }
        }
        UField {
            id: filter
            objectName: "treeFilter"
            hint: qsTr("Filter kernels and passes")
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(10)
            Layout.rightMargin: Theme.px(10)
            Layout.bottomMargin: Theme.px(6)
            onTextChanged: Session.tree.filter = text
            Keys.onEscapePressed: { clear(); pane.filterLeft(); }
            Keys.onReturnPressed: list.forceActiveFocus()
        }
        UList {
            id: list
            objectName: "traceTree"
            name: qsTr("Kernels and passes")
            start: Session.tree.currentRow
            onTaken: index => { const row = itemAtIndex(index); if (row && row.kind === "llvm") pane.showLlvm(row.scopeId); else if (row && row.isPass && !(row.current && row.hasChildren)) Session.goToPass(row.scopeId, row.passId); else Session.tree.toggle(index); }
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: Session.tree
            reuseItems: true
            Connections {
                target: Session.tree
                function onCurrentChanged() { list.following = true; Qt.callLater(list.bringCurrent); }
            }
            readonly property var chain: Session.node >= 0 && Session.nodeInfo.chain ? Session.nodeInfo.chain : []
            readonly property var fate: Session.node >= 0 && Session.nodeInfo.fate ? Session.nodeInfo.fate : []
            readonly property real born: chain.length > 0 ? Number(chain[0].pass || 0) : -1
            readonly property real died: fate.length > 0 ? Number(fate[0].pass || -1) : -1
            // Rows and the height of the list change after the place has changed, so the current row is kept
            // in view until a person scrolls.
            property bool following: true
            onMovementStarted: following = false
            onHeightChanged: if (following) Qt.callLater(bringCurrent)
            onContentHeightChanged: if (following) Qt.callLater(bringCurrent)
            // Shows the ancestors too: a row outside the view moves to the middle.
            function bringCurrent() {
                forceLayout();
                const r = Session.tree.currentRow, item = r >= 0 ? itemAtIndex(r) : null;
                if (r >= 0 && (!item || item.y < contentY || item.y + item.height > contentY + height)) positionViewAtIndex(r, ListView.Center);
            }
            delegate: URow {
                id: row
                owner: list
                at: index
                label: kind + " " + name + " " + stepsText + (failed ? " " + qsTr("failed") : "")
                chosen: current
                Accessible.role: Accessible.TreeItem
                onDoubleClicked: if (kind === "llvm") return; else if (!isPass) Session.goToScope(scopeId); else Session.tree.toggle(at)
                required property int index
                required property string name
                required property string kind
                required property int depth
                required property string stepsText
                required property string time
                required property string place
                required property bool expanded
                required property bool hasChildren
                required property int inside
                required property bool current
                required property bool failed
                required property bool unfinished
                required property var scopeId
                required property var passId
                readonly property bool isPass: kind === "pass" || kind === "llvm" ///< stands below a kernel
                // Where the selected node is: "+" made here, "·" lives here, "−" rewritten here.
                readonly property string life: kind !== "pass" || list.born < 0 || scopeId !== Session.scope ? "" : passId === list.died ? "−" : passId === list.born ? "+" : passId > list.born && (list.died < 0 || passId < list.died) ? "·" : ""
                width: list.width
                height: Theme.row
                Rectangle { visible: row.current; width: Theme.px(3); height: parent.height; color: Theme.accent }
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(8) + Math.min(row.depth, 9) * Theme.px(13)
                    anchors.rightMargin: Theme.px(12)
                    spacing: Theme.px(6)
                    Icon {
                        opacity: row.hasChildren && !row.isPass ? 1 : 0
                        name: row.expanded ? "down" : "right"
                        implicitWidth: Theme.px(12)
                        implicitHeight: Theme.px(12)
                        color: Theme.textFaint
                        visible: !row.isPass
                    }
                    Icon {
                        name: row.failed ? "warning" : row.isPass && row.hasChildren ? (row.expanded ? "down" : "right") : row.isPass ? "pass" : row.kind === "other" ? "schedule" : row.kind
                        implicitWidth: Theme.px(14)
                        implicitHeight: Theme.px(14)
                        color: row.failed ? Theme.error : row.current ? Theme.accent : row.isPass ? Theme.textFaint : Theme.textMuted
                    }
                    ULabel {
                        text: row.name
                        Layout.fillWidth: true
                        color: row.failed ? Theme.error : row.kind === "pass" && row.stepsText.length === 0 ? Theme.textFaint : Theme.text
                        font.weight: row.current ? Font.DemiBold : Font.Normal
                        font.family: row.kind === "kernel" ? Theme.mono : Theme.sans
                        font.pixelSize: row.kind === "kernel" ? Theme.px(12) : Theme.body
                    }
                    ULabel {
                        visible: row.inside > 0
                        text: qsTr("%1 inside").arg(row.inside)
                        color: Theme.textFaint
                        font.pixelSize: Theme.small
                    }
                    ULabel { objectName: "life"; visible: row.life.length > 0; text: row.life; color: row.life === "−" ? Theme.removed : row.life === "+" ? Theme.added : Theme.accent; font.weight: Font.Bold; font.pixelSize: Theme.body }
                    ULabel { visible: row.unfinished && Session.growing; text: "●"; color: Theme.error; font.pixelSize: Theme.px(8) }
                    ULabel {
                        text: row.stepsText
                        color: row.current ? Theme.text : Theme.textMuted
                        font.pixelSize: Theme.small
                    }
                }
                UTip { // beside the rows, so that it covers none
                    x: row.width + Theme.px(8)
                    y: 0
                    visible: row.hovered
                    delay: 900
                    text: row.kind === "llvm" ? qsTr("What LLVM makes of the kernel after these passes") : row.name + (row.time.length > 0 ? "\n" + qsTr("took %1").arg(row.time) : "\n" + qsTr("has not ended")) + (row.place.length > 0 ? "\n" + row.place : "")
                          + (row.failed ? "\n" + qsTr("failed") : "")
                }
            }
            ULabel {
                visible: list.count === 0 && filter.text.length > 0
                text: qsTr("Nothing matches “%1”").arg(filter.text)
                color: Theme.textFaint
                x: Theme.px(14)
                y: Theme.px(8)
            }
        }
        Rectangle {
            visible: Session.tree.hiddenCount > 0 || !Session.tree.hideEmpty
            Layout.fillWidth: true
            implicitHeight: Theme.px(28)
            color: Theme.panel
            Rectangle { width: parent.width; height: 1; color: Theme.line }
            ULabel {
                id: hiddenText
                anchors.verticalCenter: parent.verticalCenter
                x: Theme.px(12)
                font.pixelSize: Theme.small
                color: hiddenArea.containsMouse ? Theme.text : Theme.textFaint
                readonly property string whole: Session.tree.hideEmpty ? (Session.tree.hiddenCount === 1 ? qsTr("1 pass without an effect hidden · show") : qsTr("%1 passes without an effect hidden · show").arg(Session.tree.hiddenCount)) : qsTr("Passes without an effect shown · hide")
                readonly property string brief: Session.tree.hideEmpty ? qsTr("%1 hidden · show").arg(Session.tree.hiddenCount) : qsTr("All shown · hide")
                width: parent.width - Theme.px(24)
                text: wholeSize.advanceWidth <= width ? whole : brief
                TextMetrics { id: wholeSize; font: hiddenText.font; text: hiddenText.whole }
            }
            UArea { id: hiddenArea; objectName: "hiddenPasses"; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: Session.tree.hideEmpty ? qsTr("Show passes without an effect") : qsTr("Hide passes without an effect"); onClicked: Session.tree.hideEmpty = !Session.tree.hideEmpty }
        }
    }
}
