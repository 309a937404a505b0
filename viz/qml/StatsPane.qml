// Match statistics: the tried rules with their outcomes and times.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    color: Theme.canvas
    property int chosen: -1
    readonly property var info: chosen >= 0 ? Session.stats.row(chosen) : ({})
    readonly property var titles: [
        Session.statsGroup === "rule" ? qsTr("Rule") : Session.statsGroup === "pass" ? qsTr("Pass") : Session.statsGroup === "kernel" ? qsTr("Kernel or schedule") : qsTr("Operation"), qsTr("Time"), qsTr("Share"), qsTr("Attempts"),
        qsTr("Applied"), qsTr("Rate"), qsTr("Early out"), qsTr("Structure"),
        qsTr("Declined"), qsTr("No-op"), qsTr("Matched")
    ]
    readonly property var tips: [
        qsTr("Name and place"), qsTr("Of all attempts"), qsTr("Of the time of all rows shown"), qsTr("Times tried"),
        qsTr("Made a change"), qsTr("Applied of tried"), qsTr("Rejected because a required source operation is absent"), qsTr("Operation, type, argument or sources did not fit"),
        qsTr("Fitted, but the rule's function or condition said no"), qsTr("The rule answered with the node itself: a fault of the rule"), qsTr("Time of the attempts that matched")
    ]
    function columnWidth(c) {
        // A name stays near its figures: on a large screen the figures take the room.
        const number = Math.max(Theme.px(70), Math.min(Theme.px(150), (table.width - Theme.px(300)) / 10));
        return c === 0 ? Math.max(Theme.px(170), Math.min(Theme.px(560), table.width - 10 * number - Theme.px(8))) : number;
    }
    function tone(column) {
        switch (column) {
        case StatsModel.UnchangedColumn: return Theme.warning;
        case StatsModel.TimeColumn: case StatsModel.ShareColumn: case StatsModel.MatchTimeColumn: return Theme.removed;
        case StatsModel.AppliedColumn: case StatsModel.RateColumn: return Theme.added;
        default: return Theme.lineStrong;
        }
    }
    function listSteps() {
        const range = Session.statsRange, scope = info.scope > 0 ? info.scope : range === "trace" ? 0 : Session.scope;
        Tools.sql.showSteps(Session.statsGroup, info.name, scope, range === "pass" ? Session.pass : 0);
    }
    function search() { filter.forceActiveFocus(); filter.selectAll(); }
    TextEdit { id: clipboard; visible: false }
    Connections { target: Session.stats; function onModelReset() { pane.chosen = -1; } }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Math.min(tools.implicitHeight + Theme.px(16), Math.max(Theme.px(44), pane.height * 0.4))
            color: Theme.panel
            Flickable {
                anchors.fill: parent
                contentHeight: tools.implicitHeight + Theme.px(16)
                interactive: contentHeight > height
                boundsBehavior: Flickable.StopAtBounds
                clip: true
                ScrollBar.vertical: UScrollBar {}
                Flow {
                    id: tools
                    x: Theme.px(10)
                    y: Theme.px(8)
                    width: parent.width - Theme.px(20)
                    spacing: Theme.px(8)
                    USegments { objectName: "statsGroup"; options: [{value: "rule", text: qsTr("Rules")}, {value: "pass", text: qsTr("Passes")}, {value: "op", text: qsTr("Operations")}, {value: "kernel", text: qsTr("Kernels")}]; value: Session.statsGroup; onPicked: v => Session.statsGroup = v }
                    USegments { objectName: "statsRange"; options: [{value: "trace", text: qsTr("Whole trace")}, {value: "kernel", text: qsTr("This kernel")}, {value: "pass", text: qsTr("This pass")}]; value: Session.statsRange; onPicked: v => Session.statsRange = v }
                    USegments { objectName: "statsShow"; options: [{value: "all", text: qsTr("All")}, {value: "applied", text: qsTr("Fired")}, {value: "never", text: qsTr("Never fired")}, {value: "faults", text: qsTr("Faults")}]; value: Session.stats.show; onPicked: v => Session.stats.show = v }
                    UField { id: filter; objectName: "statsFilter"; hint: qsTr("Name, place or source"); width: Theme.px(230); onTextChanged: Session.stats.filter = text; Keys.onEscapePressed: clear() }
                    UButton { icon16: "copy"; tip: qsTr("Copy as CSV"); onClicked: { clipboard.text = Session.stats.csv(); clipboard.selectAll(); clipboard.copy(); Session.showNotice(qsTr("%1 rows copied as CSV.").arg(Session.stats.shown)); } }
                }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Flickable { // goes along with the table
            Layout.fillWidth: true
            implicitHeight: Theme.px(32)
            clip: true
            interactive: false
            contentWidth: heads.width
            contentX: table.contentX
            Row {
                id: heads
                Repeater {
                    model: pane.titles
                    Rectangle {
                        id: head
                        required property int index
                        required property string modelData
                        readonly property bool sorted: Session.stats.sortColumn === index
                        width: pane.columnWidth(index)
                        height: Theme.px(32)
                        color: headArea.containsMouse ? Theme.hover : Theme.panel
                        ULabel {
                            anchors.fill: parent
                            anchors.leftMargin: head.index === 0 ? Theme.px(14) : Theme.px(2)
                            anchors.rightMargin: Theme.px(10)
                            horizontalAlignment: head.index === 0 ? Text.AlignLeft : Text.AlignRight
                            text: head.modelData + (head.sorted ? (Session.stats.descending ? " ▾" : " ▴") : "")
                            color: head.sorted ? Theme.text : Theme.textMuted
                            font.pixelSize: Theme.small
                            font.weight: head.sorted ? Font.DemiBold : Font.Normal
                        }
                        UArea { id: headArea; objectName: "statsHeader" + head.index; anchors.fill: parent; name: head.modelData; Accessible.role: Accessible.ColumnHeader; Accessible.description: pane.tips[head.index]; onClicked: Session.stats.sortBy(head.index) }
                        UTip { visible: headArea.containsMouse; text: pane.tips[head.index] }
                    }
                }
            }
        }
        Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        TableView {
            id: table
            objectName: "statsTable"
            activeFocusOnTab: true
            Accessible.role: Accessible.Table
            Accessible.name: qsTr("Match statistics")
            Accessible.focusable: true
            Keys.onShortcutOverride: event => event.accepted = [Qt.Key_Up, Qt.Key_Down, Qt.Key_Return, Qt.Key_Enter].indexOf(event.key) >= 0
            Keys.onPressed: event => {
                const by = event.key === Qt.Key_Down ? 1 : event.key === Qt.Key_Up ? -1 : 0;
                if (by !== 0 && rows > 0) { pane.chosen = Math.max(0, Math.min(rows - 1, pane.chosen + by)); positionViewAtRow(pane.chosen, TableView.Contain); }
                else if ((event.key === Qt.Key_Return || event.key === Qt.Key_Enter) && (pane.info.rule || 0) > 0) Session.goToRule(pane.info.rule);
                else return;
                event.accepted = true;
            }
            Rectangle { parent: table; visible: table.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 2; border.color: Theme.accent }
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            model: Session.stats
            boundsBehavior: Flickable.StopAtBounds
            columnWidthProvider: pane.columnWidth
            rowHeightProvider: () => Theme.px(28)
            onWidthChanged: forceLayout()
            ScrollBar.vertical: UScrollBar {}
            ScrollBar.horizontal: UScrollBar {}
            delegate: Rectangle {
                id: cell
                required property int row
                required property int column
                required property string value
                required property string place
                required property real share
                required property bool fault
                implicitHeight: Theme.px(28)
                implicitWidth: 50
                color: row === pane.chosen ? Theme.selection : row % 2 ? Theme.panel : Theme.canvas
                Rectangle {
                    visible: cell.column > 0 && cell.share > 0.004
                    anchors.right: parent.right
                    anchors.rightMargin: Theme.px(6)
                    anchors.bottom: parent.bottom
                    anchors.bottomMargin: Theme.px(3)
                    width: (parent.width - Theme.px(16)) * cell.share
                    height: Theme.px(3)
                    radius: 1.5
                    color: pane.tone(cell.column)
                    opacity: 0.85
                }
                Row {
                    visible: cell.column === 0
                    anchors.verticalCenter: parent.verticalCenter
                    x: Theme.px(14)
                    spacing: Theme.px(8)
                    ULabel { text: cell.value; width: Math.min(implicitWidth, cell.width - Theme.px(30)) }
                    ULabel { text: cell.place; color: Theme.textFaint; font.pixelSize: Theme.px(10.5); anchors.verticalCenter: parent.verticalCenter; visible: cell.width > Theme.px(300) }
                }
                ULabel {
                    visible: cell.column > 0
                    anchors.fill: parent
                    anchors.rightMargin: Theme.px(10)
                    horizontalAlignment: Text.AlignRight
                    text: cell.value
                    color: cell.value === "·" ? Theme.textFaint : cell.column === StatsModel.UnchangedColumn ? Theme.warning : Theme.text
                    font.pixelSize: Theme.px(12)
                }
                UArea { anchors.fill: parent; stop: false; name: cell.value; Accessible.role: Accessible.Cell; onClicked: pane.chosen = cell.row; onDoubleClicked: { pane.chosen = cell.row; pane.listSteps(); } }
            }
            ULabel {
                visible: Session.stats.shown === 0
                x: Theme.px(16)
                y: Theme.px(12)
                color: Theme.textFaint
                text: Session.stats.total === 0 ? qsTr("No attempts were counted here.") : qsTr("No row fits the filter.")
            }
        }
        Rectangle {
            visible: pane.chosen >= 0 && pane.info.outcomes !== undefined
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.minimumHeight: Theme.px(30)
            Layout.preferredHeight: Layout.maximumHeight
            Layout.maximumHeight: Math.min(details.implicitHeight + Theme.px(24), pane.height * 0.45)
            color: Theme.panel
            Rectangle { width: parent.width; height: 1; color: Theme.line }
            Flickable {
                anchors.fill: parent
                anchors.topMargin: 1
                contentHeight: details.implicitHeight + Theme.px(24)
                interactive: contentHeight > height
                boundsBehavior: Flickable.StopAtBounds
                clip: true
                ScrollBar.vertical: UScrollBar {}
                ColumnLayout {
                    id: details
                    x: Theme.px(14)
                    y: Theme.px(12)
                    width: parent.width - Theme.px(28)
                    spacing: Theme.px(8)
                    ToolLine {
                        Layout.fillWidth: true
                        text: pane.info.name || ""
                        detail: pane.info.place || ""
                        label.color: Theme.text
                        label.font.pixelSize: Theme.body
                        label.font.weight: Font.DemiBold
                        UButton { objectName: "statsGo"; visible: (pane.info.scope || 0) > 0; quiet: false; icon16: "next"; text: qsTr("Go there"); onClicked: { Session.goToScope(pane.info.scope); Session.tab = "graph"; } }
                        UButton { objectName: "statsSteps"; visible: (pane.info.applied || "0") !== "0"; quiet: false; text: pane.info.applied === "1" ? qsTr("List its step") : qsTr("List its %1 steps").arg(pane.info.applied); tip: qsTr("As a query. Attempts that came to nothing are counted, not kept."); onClicked: pane.listSteps() }
                        UButton { objectName: "statsNext"; visible: (pane.info.rule || 0) > 0; quiet: false; icon16: "next"; text: qsTr("Next step by this rule"); onClicked: Session.goToRule(pane.info.rule) }
                    }
                    ULabel { visible: (pane.info.text || "").length > 0; text: pane.info.text || ""; mono: true; font.pixelSize: Theme.px(12); color: Theme.textMuted; Layout.fillWidth: true; wrapMode: Text.WrapAnywhere; maximumLineCount: 4 }
                    Row {
                        id: bar
                        Layout.fillWidth: true
                        height: Theme.px(8)
                        readonly property var tones: [Theme.lineStrong, Theme.textFaint, Theme.modified, Theme.added, Theme.warning]
                        Repeater {
                            model: pane.info.outcomes || []
                            Rectangle { required property var modelData; required property int index; width: details.width * modelData.share; height: bar.height; color: bar.tones[index] }
                        }
                    }
                    Flow {
                        Layout.fillWidth: true
                        spacing: Theme.px(16)
                        Repeater {
                            model: pane.info.outcomes || []
                            Row {
                                required property var modelData
                                required property int index
                                spacing: Theme.px(6)
                                Rectangle { width: Theme.px(9); height: width; radius: 2; color: bar.tones[parent.index]; anchors.verticalCenter: parent.verticalCenter }
                                ULabel { text: parent.modelData.name + "  " + parent.modelData.count + "  (" + (parent.modelData.share * 100).toFixed(1) + " %, " + parent.modelData.time + ")"; font.pixelSize: Theme.small; color: Theme.textMuted }
                            }
                        }
                    }
                }
            }
        }
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Theme.px(28)
            color: Theme.panel
            Rectangle { width: parent.width; height: 1; color: Theme.line }
            ULabel {
                anchors.verticalCenter: parent.verticalCenter
                x: Theme.px(14)
                width: parent.width - 2 * x
                font.pixelSize: Theme.small
                color: Theme.textMuted
                text: qsTr("%1 of %2 rows · %3 fired · %4 attempts, %5 applied (%6) · %7").arg(Session.stats.shown).arg(Session.stats.total).arg(Session.stats.sum.matched).arg(Session.stats.sum.attempts).arg(Session.stats.sum.applied).arg(Session.stats.sum.rate).arg(Session.stats.sum.time)
            }
        }
    }
}
