// One pair of compilations: facts before and after, and their rewrites, graphs and texts side by side.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "replayPair"
    color: Theme.canvas
    readonly property var detail: Tools.replay.detail
    readonly property bool isText: ["source", "ir", "asm"].indexOf(detail.what) >= 0
    function act(id) {
        const canvases = detail.what === "graph" ? [together] : detail.what === "rewrites" ? steps.canvases : [];
        for (const c of canvases) {
            if (id === "fit") c.fit();
            else if (id === "zoom-in") c.zoomBy(1.25);
            else if (id === "zoom-out") c.zoomBy(0.8);
            else c.resetZoom();
        }
    }
    UScroll {
        visible: pane.detail.loaded
        anchors.fill: parent
        needed: head.implicitHeight + tools.height + Theme.px(pane.detail.what === "rewrites" ? 370 : 200)
        ColumnLayout {
            anchors.fill: parent
            spacing: 0
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: head.implicitHeight + Theme.px(18)
                color: Theme.panel
                ColumnLayout {
                    id: head
                    x: Theme.px(12)
                    y: Theme.px(9)
                    width: parent.width - Theme.px(24)
                    spacing: Theme.px(7)
                    RowLayout {
                        spacing: Theme.px(8)
                        ULabel { objectName: "replayName"; text: Tools.replay.title.name || ""; font.pixelSize: Theme.title; font.weight: Font.DemiBold; Layout.maximumWidth: pane.width * 0.4 }
                        UChip { text: Tools.replay.title.status || "" }
                        UChip { visible: (Tools.replay.title.sure ?? 1) < 1; sign: "≈"; tone: Theme.warning; text: qsTr("paired by likeness, %1 %").arg(Math.round((Tools.replay.title.sure ?? 1) * 100)) }
                        ULabel { text: Tools.replay.title.place || ""; color: Theme.textFaint; font.pixelSize: Theme.small; elide: Text.ElideLeft; Layout.fillWidth: true }
                    }
                    ULabel { objectName: "replaySentence"; text: pane.detail.sentence; color: Theme.textMuted; wrapMode: Text.Wrap; maximumLineCount: 3; Layout.fillWidth: true }
                    Flow {
                        Layout.fillWidth: true
                        spacing: Theme.px(14)
                        visible: pane.detail.facts.length > 0
                        Repeater {
                            model: pane.detail.facts
                            Row {
                                id: fact
                                required property var modelData
                                spacing: Theme.px(5)
                                ULabel { text: fact.modelData.name; color: Theme.textFaint; font.pixelSize: Theme.small }
                                ULabel { visible: fact.modelData.differs || fact.modelData.before !== fact.modelData.after; text: fact.modelData.before; color: fact.modelData.differs ? Theme.removed : Theme.textMuted; font.pixelSize: Theme.small; width: Math.min(implicitWidth, pane.width * 0.3) }
                                ULabel { visible: fact.modelData.differs || fact.modelData.before !== fact.modelData.after; text: "→"; color: Theme.textFaint; font.pixelSize: Theme.small }
                                ULabel { text: fact.modelData.after; color: fact.modelData.differs ? Theme.added : Theme.textMuted; font.pixelSize: Theme.small; font.bold: fact.modelData.differs; width: Math.min(implicitWidth, pane.width * 0.3) }
                            }
                        }
                    }
                }
                Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
            }
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: tools.height + Theme.px(12)
                color: Theme.panel
                Flow {
                    id: tools
                    x: Theme.px(10)
                    y: Theme.px(6)
                    width: parent.width - Theme.px(20)
                    spacing: Theme.px(8)
                    USegments {
                        objectName: "replayWhat"
                        options: [{value: "rewrites", text: qsTr("Rewrites")}, {value: "graph", text: qsTr("Graph")}, {value: "source", text: qsTr("Source")}, {value: "ir", text: qsTr("IR")}, {value: "asm", text: qsTr("Assembly")}]
                        value: pane.detail.what
                        onPicked: value => pane.detail.what = value
                    }
                    USegments {
                        objectName: "replayWhere"
                        visible: pane.detail.what === "graph"
                        options: [{value: "begin", text: qsTr("As given")}, {value: "row", text: qsTr("At this rewrite")}, {value: "end", text: qsTr("As it ended")}]
                        value: pane.detail.where
                        onPicked: value => pane.detail.where = value
                    }
                    UChip { height: Theme.px(28); visible: pane.isText && pane.detail.lines.hidden > 0; text: pane.detail.lines.hidden === 1 ? qsTr("1 equal line left out") : qsTr("%1 equal lines left out").arg(pane.detail.lines.hidden); link: true; onClicked: pane.detail.lines.onlyChanges = false }
                    UButton { objectName: "replayOnlyChanges"; visible: pane.isText; on: pane.detail.lines.onlyChanges; quiet: false; text: qsTr("Changes only"); onClicked: pane.detail.lines.onlyChanges = !pane.detail.lines.onlyChanges }
                    UButton { objectName: "replayParting"; visible: pane.detail.what === "rewrites" && pane.detail.parting >= 0; quiet: false; icon16: "target"; text: qsTr("Where they part"); tip: qsTr("First rewrite that differs (D)"); onClicked: pane.detail.toParting() }
                    UButton { visible: !pane.isText; icon16: "turn"; on: pane.detail.leftToRight; tip: qsTr("Left to right (R)"); onClicked: pane.detail.leftToRight = !pane.detail.leftToRight }
                    UButton { visible: !pane.isText; icon16: "fit"; tip: qsTr("Whole graph (Space)"); onClicked: pane.act("fit") }
                    ULabel { objectName: "replaySummary"; text: pane.detail.problem.length > 0 ? pane.detail.problem : pane.detail.what === "rewrites" ? "" : pane.detail.summary; color: pane.detail.problem.length > 0 ? Theme.error : Theme.textMuted; font.pixelSize: Theme.small; visible: text.length > 0 && !(pane.isText && texts.count === 0); height: Theme.px(28); verticalAlignment: Text.AlignVCenter; width: Math.min(implicitWidth, tools.width) }
                }
                Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
            }
            ReplaySteps { id: steps; visible: pane.detail.what === "rewrites"; Layout.fillWidth: true; Layout.fillHeight: true }
            GraphCanvas {
                id: together
                objectName: "replayTogether"
                Rectangle { visible: together.entered; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                Accessible.role: Accessible.Graphic
                Accessible.focusable: true
                Accessible.name: qsTr("Both graphs in one: %1").arg(pane.detail.summary)
                visible: pane.detail.what === "graph"
                Layout.fillWidth: true
                Layout.fillHeight: true
                source: pane.detail.together
                theme: Theme
            }
            TextCompare {
                id: texts
                objectName: "replayText"
                visible: pane.isText
                Layout.fillWidth: true
                Layout.fillHeight: true
                model: pane.detail.lines
                ULabel { visible: parent.count === 0 && !pane.detail.busy; anchors.centerIn: parent; width: Math.min(implicitWidth, parent.width - Theme.px(24)); wrapMode: Text.Wrap; horizontalAlignment: Text.AlignHCenter; text: pane.detail.summary; color: Theme.textFaint }
            }
        }
    }
    ULabel {
        visible: !pane.detail.loaded
        anchors.centerIn: parent
        width: parent.width - Theme.px(40)
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
        color: pane.detail.problem.length > 0 ? Theme.error : Theme.textFaint
        text: pane.detail.problem.length > 0 ? pane.detail.problem : pane.detail.busy ? qsTr("Loading…") : qsTr("Choose a kernel on the left.")
    }
}
