// Two states side by side: as one graph, or as texts with marks on words that differ.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "comparePane"
    property alias canvas: canvas
    color: Theme.canvas
    signal traceAsked()
    function exporter(window) {
        return Tools.compare.what === "graph" ? { kinds: window.pictures, to: path => canvas.exportTo(path) } : window.asSeen(pane);
    }
    onVisibleChanged: if (visible && Tools.compare.rightTitle.length === 0) Tools.compare.compareNow()
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: what.height + sides.height + Theme.px(16)
            color: Theme.panel
            Flow { // as the sides below it
                id: what
                x: Theme.px(10)
                y: Theme.px(5)
                width: parent.width - Theme.px(20)
                spacing: Theme.px(8)
                USegments {
                    objectName: "compareWhat"
                    options: [{value: "graph", text: qsTr("Graph")}, {value: "tree", text: qsTr("As text")}, {value: "source", text: qsTr("Source")}, {value: "ir", text: qsTr("IR")}, {value: "asm", text: qsTr("Assembly")}, {value: "uops", text: qsTr("UOps")}]
                    value: Tools.compare.what
                    onPicked: value => Tools.compare.what = value
                }
                UChip { visible: Tools.compare.hidden > 0; height: Theme.px(28); text: Tools.compare.hidden === 1 ? qsTr("1 equal line left out") : qsTr("%1 equal lines left out").arg(Tools.compare.hidden); link: true; onClicked: Tools.compare.onlyChanges = false }
                UButton { visible: Tools.compare.what !== "graph"; on: Tools.compare.onlyChanges; quiet: false; text: qsTr("Changes only"); onClicked: Tools.compare.onlyChanges = !Tools.compare.onlyChanges }
                UButton { visible: Tools.compare.what === "graph"; icon16: "fit"; tip: qsTr("Whole graph (Space)"); onClicked: canvas.fit() }
            }
            Flow { // takes a second row in a narrow window
                id: sides
                x: Theme.px(10)
                y: what.height + Theme.px(10)
                width: parent.width - Theme.px(20)
                spacing: Theme.px(8)
                UChip { height: Theme.px(28); sign: "−"; tone: Theme.removed; text: Tools.compare.leftTitle.length > 0 ? Tools.compare.leftTitle : qsTr("nothing remembered (X)") }
                UButton { text: "⇄"; tip: qsTr("Swap sides"); onClicked: Tools.compare.swap() }
                UChip { height: Theme.px(28); sign: "+"; tone: Theme.added; text: Tools.compare.rightTitle }
                UButton { quiet: false; text: qsTr("This pass"); tip: qsTr("As it began and as it ended"); onClicked: Tools.compare.comparePass() }
                UButton { quiet: false; text: qsTr("Present state"); tip: qsTr("On the right (Shift X)"); onClicked: Tools.compare.compareNow() }
                UButton { quiet: false; icon16: "open"; text: qsTr("Another trace…"); tip: qsTr("The same place in another trace, on the left"); onClicked: pane.traceAsked() }
                ULabel { objectName: "compareSummary"; height: Theme.px(28); width: Math.min(implicitWidth, sides.width); verticalAlignment: Text.AlignVCenter; text: Tools.compare.problem.length > 0 ? Tools.compare.problem : Tools.compare.summary; color: Tools.compare.problem.length > 0 ? Theme.error : Theme.textMuted }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Item {
            visible: Tools.compare.what === "graph"
            Layout.fillWidth: true
            Layout.fillHeight: true
            GraphCanvas {
                id: canvas
                objectName: "compareCanvas"
                Accessible.role: Accessible.Graphic
                Accessible.focusable: true
                Accessible.name: qsTr("Both states as one graph: %1").arg(Tools.compare.summary)
                anchors.fill: parent
                anchors.rightMargin: map.visible && map.large ? map.width + Theme.px(16) : 0
                source: Tools.compare.graph
                theme: Theme
                Rectangle { visible: canvas.entered; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                onNodeClicked: id => { if (id < 0x80000000) Session.node = id; }
            }
            GraphMap {
                id: map
                objectName: "compareMap"
                readonly property bool large: canvas.whole.width * 0.62 > parent.width || canvas.whole.height * 0.62 > parent.height
                visible: !Tools.compare.graph.empty && (large ? parent.width > Theme.px(600) : cut)
                canvas: pane.canvas
                source: Tools.compare.graph
                anchors.bottom: parent.bottom
                width: Math.min(Theme.px(200), parent.width * 0.3)
                onAsked: (x, y) => look(x, y)
            }
        }
        TextCompare {
            objectName: "compareText"
            visible: Tools.compare.what !== "graph"
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: Tools.compare
        }
    }
}
