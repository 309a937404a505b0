// Compilation and run on a time axis, with memory below and totals of the selection.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "timelinePane"
    color: Theme.canvas
    // Totals of the selection are exported as a table.
    function exporter(window) {
        return { kinds: window.pictures.concat(Tools.timeline.totals.length > 0 ? window.tables : []), to: path => /\.(csv|json)$/.test(path) ? Tools.timeline.exportTotals(path) : view.exportTo(path) };
    }
    onVisibleChanged: if (visible) Tools.timeline.load()
    RowLayout {
        anchors.fill: parent
        spacing: 0
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true
            TimelineView {
                id: view
                objectName: "timelineView"
                Rectangle { visible: view.activeFocus; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                anchors.fill: parent
                anchors.margins: Theme.px(8)
                model: Tools.timeline
                theme: Theme
                Accessible.role: Accessible.Chart
                Accessible.focusable: true
                Accessible.name: qsTr("Timeline of compile and run")
                Accessible.description: Tools.timeline.selection
                readonly property var moves: ({ [Qt.Key_Left]: -0.2, [Qt.Key_A]: -0.2, [Qt.Key_Right]: 0.2, [Qt.Key_D]: 0.2 })
                readonly property var zooms: ({ [Qt.Key_Up]: 0.7, [Qt.Key_W]: 0.7, [Qt.Key_Down]: 1 / 0.7, [Qt.Key_S]: 1 / 0.7 })
                Keys.onShortcutOverride: event => event.accepted = event.modifiers === Qt.NoModifier && (moves[event.key] !== undefined || zooms[event.key] !== undefined)
                Keys.onPressed: event => {
                    if (event.modifiers !== Qt.NoModifier) return;
                    if (moves[event.key] !== undefined) Tools.timeline.moveBy(moves[event.key]);
                    else if (zooms[event.key] !== undefined) Tools.timeline.zoomBy(zooms[event.key]);
                    else return;
                    event.accepted = true;
                }
            }
            UTip { visible: view.hovered >= 0 || view.hoveredBuffer >= 0; delay: 250; text: view.hovered >= 0 ? Tools.timeline.describe(view.hovered) : Tools.timeline.describeBuffer(view.hoveredBuffer) }
            ULabel { visible: !Tools.timeline.ready; anchors.centerIn: parent; text: qsTr("Laying out…"); color: Theme.textMuted }
            ULabel { anchors.bottom: parent.bottom; anchors.left: parent.left; anchors.right: ways.left; anchors.leftMargin: Theme.px(12); height: Theme.px(26); font.pixelSize: Theme.small; color: Theme.textFaint; text: qsTr("Wheel or W and S zoom, drag or A and D move, Shift-drag adds up, a click on a launch shows its buffers, on a buffer its launches; double-click goes there.") }
            Row {
                id: ways
                anchors.right: parent.right
                anchors.bottom: parent.bottom
                anchors.margins: Theme.px(8)
                UButton { objectName: "timelineScope"; visible: Session.scope > 0; text: Session.scopeKind === "schedule" ? qsTr("This schedule") : qsTr("This kernel"); tip: qsTr("The kernel or schedule chosen in the tree, and its launches"); onClicked: Tools.timeline.showScope() }
                UButton { objectName: "timelineWork"; text: qsTr("Compiling and running"); tip: qsTr("From the first schedule or launch on"); onClicked: Tools.timeline.showWork() }
                UButton { objectName: "timelineAll"; icon16: "fit"; tip: qsTr("Everything, the start of the script too"); onClicked: Tools.timeline.showAll() }
            }
        }
        Rectangle { visible: Tools.timeline.totals.length > 0; implicitWidth: 1; Layout.fillHeight: true; color: Theme.line }
        UList {
            id: totals
            objectName: "timelineTotals"
            name: Tools.timeline.selection
            visible: Tools.timeline.totals.length > 0
            Layout.preferredWidth: Theme.px(270)
            Layout.fillHeight: true
            model: Tools.timeline.totals
            header: ULabel { width: totals.width; height: Theme.px(32); leftPadding: Theme.px(12); text: Tools.timeline.selection; font.weight: Font.DemiBold }
            delegate: RowLayout {
                required property var modelData
                width: totals.width
                height: Theme.px(22)
                ULabel { text: modelData.name; leftPadding: Theme.px(12); Layout.fillWidth: true; font.pixelSize: Theme.px(12) }
                ULabel { text: "×" + modelData.count; color: Theme.textFaint; font.pixelSize: Theme.small }
                ULabel { text: modelData.time; rightPadding: Theme.px(12); font.pixelSize: Theme.px(12); horizontalAlignment: Text.AlignRight; Layout.preferredWidth: Theme.px(80) }
            }
        }
    }
}
