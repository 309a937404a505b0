// Compile time: flame graph and treemap, rules that waste time, and a comparison with a second trace.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "profilePane"
    property string mode: "flame"
    color: Theme.canvas
    signal compareAsked()
    function exporter(window) {
        if (mode === "roofline") return { kinds: window.tables, to: path => Tools.roofline.exportTo(path) };
        if (mode === "flame" || mode === "treemap") return { kinds: window.pictures, to: path => view.exportTo(path) };
        return { kinds: window.tables, to: path => Tools.profile.exportTable(mode === "findings" ? "findings" : "comparison", path) };
    }
    onVisibleChanged: if (visible) Tools.profile.load()
    // Anchors, not a layout: the room of the view depends on rows that wrap, and a layout would ask them again and again.
    Item {
        anchors.fill: parent
        Rectangle {
            id: top
            width: parent.width
            height: tools.height + Theme.px(14)
            color: Theme.panel
            Flow {
                id: tools
                x: Theme.px(10)
                y: Theme.px(7)
                width: parent.width - Theme.px(20)
                spacing: Theme.px(8)
                USegments {
                    objectName: "profileMode"
                    options: [{value: "flame", text: qsTr("Flame graph")}, {value: "treemap", text: qsTr("Treemap")}, {value: "findings", text: qsTr("Findings %1").arg(Tools.profile.findings.length)}, {value: "compare", text: qsTr("Two traces")}, {value: "roofline", text: qsTr("Roofline")}]
                    value: pane.mode
                    onPicked: value => pane.mode = value
                }
                USegments {
                    objectName: "profileWhat"
                    visible: pane.mode === "flame" || pane.mode === "treemap"
                    options: [{value: "everything", text: qsTr("All time")}, {value: "rewrites", text: qsTr("Rewriting")}]
                    value: Tools.profile.what
                    onPicked: value => Tools.profile.what = value
                }
                UField { id: find; visible: pane.mode !== "roofline"; objectName: "profileFind"; hint: qsTr("Name"); width: Theme.px(150) }
                Repeater { // the path back to the root, which itself has none
                    model: (pane.mode === "flame" || pane.mode === "treemap") && Tools.profile.way.length > 1 ? Tools.profile.way : []
                    UButton { required property var modelData; required property int index; objectName: "profileWay-" + index; text: modelData.name + "  " + modelData.time; onClicked: Tools.profile.root = modelData.node }
                }
                UButton { visible: pane.mode === "compare"; quiet: false; icon16: "open"; text: qsTr("Another trace…"); onClicked: pane.compareAsked() }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Item {
            visible: pane.mode === "flame" || pane.mode === "treemap"
            anchors.top: top.bottom
            anchors.bottom: foot.top
            width: parent.width
            ProfileView {
                id: view
                objectName: "profileView"
                Rectangle { visible: view.activeFocus; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                Accessible.role: Accessible.Chart
                Accessible.focusable: true
                Accessible.name: qsTr("Compile time, %1").arg(Tools.profile.describe(Tools.profile.root))
                anchors.fill: parent
                anchors.margins: Theme.px(8)
                model: Tools.profile
                theme: Theme
                mode: pane.mode === "treemap" ? "treemap" : "flame"
                highlight: find.text
                onOpened: node => Tools.profile.follow(node)
                Accessible.description: qsTr("Arrows walk over the boxes, Return goes there")
                Keys.onShortcutOverride: event => event.accepted = event.modifiers === Qt.NoModifier && [Qt.Key_Up, Qt.Key_Down, Qt.Key_Left, Qt.Key_Right, Qt.Key_Return, Qt.Key_Enter].indexOf(event.key) >= 0
                Keys.onUpPressed: Tools.profile.walk("out")
                Keys.onDownPressed: Tools.profile.walk("in")
                Keys.onLeftPressed: Tools.profile.walk("previous")
                Keys.onRightPressed: Tools.profile.walk("next")
                Keys.onReturnPressed: Tools.profile.follow(Tools.profile.root)
                Keys.onEnterPressed: Tools.profile.follow(Tools.profile.root)
            }
            UTip { visible: view.hovered >= 0; delay: 250; text: Tools.profile.describe(view.hovered) }
            ULabel { visible: !Tools.profile.ready; anchors.centerIn: parent; text: qsTr("Adding up…"); color: Theme.textMuted }
        }
        RooflinePane { visible: pane.mode === "roofline" && pane.visible; anchors.top: top.bottom; anchors.bottom: parent.bottom; width: parent.width }
        UList {
            id: findings
            objectName: "findings"
            name: qsTr("Findings")
            onTaken: index => { const f = model[index]; if (f.step > 0) { Session.tab = "graph"; Session.goToTraceStep(f.step); } else if (f.kind === "unchanged") Session.goToRule(f.rule); else { Session.tab = "stats"; Session.stats.show = "never"; } }
            visible: pane.mode === "findings"
            anchors.top: top.bottom
            anchors.bottom: parent.bottom
            width: parent.width
            model: Tools.profile.findings.filter(f => find.text.length === 0 || f.title.indexOf(find.text) >= 0)
            delegate: URow {
                id: fault
                owner: findings
                at: index
                label: modelData.kind + " " + modelData.title + ": " + modelData.detail + (modelData.advice ? "; " + modelData.advice : "")
                required property var modelData
                required property int index
                width: findings.width
                height: Theme.px(modelData.advice ? 48 : 30)
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(14)
                    anchors.rightMargin: Theme.px(14)
                    spacing: Theme.px(12)
                    UChip { sign: fault.modelData.kind === "dead" ? "○" : fault.modelData.kind === "undo" ? "⇄" : "!"; tone: fault.modelData.kind === "dead" ? Theme.textMuted : Theme.warning; text: fault.modelData.kind === "dead" ? qsTr("never matched") : fault.modelData.kind === "undo" ? qsTr("undone") : qsTr("no effect"); Layout.preferredWidth: Theme.px(126) }
                    ULabel { text: fault.modelData.title; font.weight: Font.DemiBold; Layout.preferredWidth: Theme.px(210) }
                    ColumnLayout {
                        spacing: 0
                        ULabel { text: fault.modelData.detail; Layout.fillWidth: true }
                        ULabel { visible: text.length > 0; text: fault.modelData.advice; color: Theme.textMuted; font.pixelSize: Theme.small; Layout.fillWidth: true }
                    }
                }
            }
            ULabel { visible: findings.count === 0; x: Theme.px(16); y: Theme.px(12); color: Theme.textFaint; text: Tools.profile.ready ? qsTr("Nothing to report.") : qsTr("Looking…") }
        }
        UList {
            id: two
            objectName: "twoTraces"
            name: qsTr("Rules of two traces")
            visible: pane.mode === "compare"
            anchors.top: top.bottom
            anchors.bottom: parent.bottom
            width: parent.width
            model: Tools.profile.comparison.filter(f => find.text.length === 0 || f.name.indexOf(find.text) >= 0)
            headerPositioning: ListView.OverlayHeader
            header: Rectangle {
                z: 2
                width: two.width
                height: Theme.px(30)
                color: Theme.panel
                visible: Tools.profile.other.length > 0
                Cells { anchors.fill: parent; values: [qsTr("Rule"), qsTr("Change"), qsTr("Before: %1").arg(Tools.profile.other), qsTr("Time now"), qsTr("Matches before"), qsTr("now"), qsTr("Attempts before"), qsTr("now")]; muted: true }
            }
            component Cells: RowLayout {
                id: cells
                property var values: []
                property bool muted: false
                property color second: Theme.text
                Repeater {
                    model: cells.values
                    ULabel {
                        required property var modelData
                        required property int index
                        text: modelData
                        Layout.fillWidth: true
                        Layout.preferredWidth: index === 0 ? 220 : 90
                        leftPadding: index === 0 ? Theme.px(14) : 0
                        rightPadding: Theme.px(10)
                        horizontalAlignment: index === 0 ? Text.AlignLeft : Text.AlignRight
                        color: cells.muted ? Theme.textMuted : index === 1 ? cells.second : Theme.text
                        font.pixelSize: Theme.px(12)
                    }
                }
            }
            delegate: Cells {
                required property var modelData
                width: two.width
                height: Theme.px(26)
                values: [modelData.name, modelData.delta, modelData.otherNs, modelData.ns, modelData.otherMatches, modelData.matches, modelData.otherAttempts, modelData.attempts]
                second: modelData.less ? Theme.added : Theme.removed
            }
            ULabel { visible: two.count === 0; x: Theme.px(16); y: Theme.px(10); width: two.width - 2 * x; wrapMode: Text.Wrap; elide: Text.ElideNone; color: Theme.textFaint; text: qsTr("Choose another trace: rules are compared by name, biggest change of time first.") }
        }
        Rectangle {
            id: foot
            anchors.bottom: parent.bottom
            width: parent.width
            height: hint.height + Theme.px(10)
            color: Theme.panel
            visible: pane.mode === "flame" || pane.mode === "treemap"
            Flow {
                id: hint
                x: Theme.px(12)
                width: parent.width - Theme.px(24)
                anchors.verticalCenter: parent.verticalCenter
                spacing: Theme.px(14)
                Repeater {
                    model: [[0, qsTr("schedule")], [2, qsTr("kernel")], [6, qsTr("pass")], [1, qsTr("rule")], [4, qsTr("kernel, not rewriting")]]
                    Row {
                        required property var modelData
                        visible: modelData[0] !== 4 || Tools.profile.what === "everything"
                        spacing: Theme.px(5)
                        Rectangle { width: Theme.px(14); height: Theme.px(10); radius: 2; color: { Theme.dark; return Theme.tintColour(parent.modelData[0], false); } anchors.verticalCenter: parent.verticalCenter }
                        ULabel { text: parent.modelData[1]; font.pixelSize: Theme.small; color: Theme.textMuted }
                    }
                }
                ULabel { width: Math.min(implicitWidth, hint.width); wrapMode: Text.Wrap; font.pixelSize: Theme.small; color: Theme.textMuted; text: qsTr("Double-click goes there. Kernels compiled at the same time add up.") }
                // Its room does not depend on the number: the room of the view does, and the number on that.
                ULabel { opacity: view.leftOut > 0 ? 1 : 0; width: Math.min(most.advanceWidth, hint.width); font.pixelSize: Theme.small; color: Theme.textMuted; text: qsTr("%1 too small to draw: click a box to fill the view with it. ").arg(view.leftOut.toLocaleString(Qt.locale("en_US"), "f", 0)) }
                TextMetrics { id: most; font.family: Theme.sans; font.pixelSize: Theme.small; text: qsTr("%1 too small to draw: click a box to fill the view with it. ").arg("100,000") }
            }
        }
    }
}
