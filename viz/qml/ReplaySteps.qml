// Both compilations in lock-step: their graphs at one row, each side's event in that row, and all rows.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Item {
    id: pane
    readonly property var detail: Tools.replay.detail
    readonly property var canvases: [leftSide.canvas, rightSide.canvas]
    component Side: Rectangle {
        id: side
        property bool first: true
        property alias canvas: view
        readonly property string place: (first ? pane.detail.step.leftPlace : pane.detail.step.rightPlace) || ""
        readonly property string html: (first ? pane.detail.step.leftHtml : pane.detail.step.rightHtml) || ""
        readonly property bool stays: (first ? pane.detail.step.leftStays : pane.detail.step.rightStays) || false
        color: Theme.canvas
        ColumnLayout {
            anchors.fill: parent
            spacing: 0
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: Theme.px(58)
                color: Theme.panel
                RowLayout {
                    x: Theme.px(10)
                    y: Theme.px(4)
                    width: parent.width - Theme.px(16)
                    height: Theme.px(26)
                    spacing: Theme.px(6)
                    ULabel { text: side.first ? "−" : "+"; color: side.first ? Theme.removed : Theme.added; font.bold: true }
                    ULabel { objectName: side.first ? "replayLeftPlace" : "replayRightPlace"; text: side.place.length > 0 ? side.place : qsTr("nothing"); font.weight: Font.DemiBold; Layout.fillWidth: true }
                    UChip { visible: side.stays; text: qsTr("stays here"); Layout.fillWidth: true; Layout.minimumWidth: Math.min(implicitWidth, side.width * 0.25); Layout.maximumWidth: implicitWidth }
                    UButton { objectName: side.first ? "replayDebugLeft" : "replayDebugRight"; enabled: side.place.length > 0; icon16: "link"; tip: qsTr("This side in the debugger"); onClicked: pane.detail.askLink(side.first) }
                }
                Item {
                    x: Theme.px(10)
                    y: Theme.px(31)
                    width: parent.width - Theme.px(20)
                    height: Theme.px(22)
                    clip: true
                    Text { objectName: side.first ? "replayLeftText" : "replayRightText"; height: parent.height; verticalAlignment: Text.AlignVCenter; text: Theme.rich(side.html, Theme.dark); textFormat: Text.RichText; font.family: Theme.mono; font.pixelSize: Theme.px(12); color: Theme.text }
                    ULabel { visible: side.html.length === 0; height: parent.height; width: parent.width; text: side.stays ? qsTr("This side makes no such rewrite.") : qsTr("The pass begins."); color: Theme.textFaint; font.pixelSize: Theme.small }
                    HoverHandler { id: over }
                    UTip { visible: over.hovered && side.html.length > 0; text: side.html.replace(/&nbsp;/g, " ").replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&").replace(/&quot;/g, "\"") }
                }
                Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
            }
            GraphCanvas {
                id: view
                objectName: side.first ? "replayLeft" : "replayRight"
                Layout.fillWidth: true
                Layout.fillHeight: true
                source: side.first ? pane.detail.left : pane.detail.right
                theme: Theme
                follow: true
                Accessible.role: Accessible.Graphic
                Accessible.focusable: true
                Rectangle { visible: view.entered; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                Accessible.name: side.first ? qsTr("Graph before") : qsTr("Graph after")
                opacity: side.stays ? 0.6 : 1
            }
        }
        ULabel { visible: side.place.length === 0 && !pane.detail.busy; anchors.centerIn: parent; color: Theme.textFaint; text: pane.detail.problem.length > 0 ? qsTr("No graph can be drawn.") : qsTr("Nothing was rewritten on this side yet.") }
    }
    USplit {
        anchors.fill: parent
        orientation: Qt.Vertical
        USplit {
            SplitView.fillHeight: true
            SplitView.minimumHeight: Theme.px(140)
            Side { id: leftSide; first: true; SplitView.preferredWidth: pane.width / 2; SplitView.minimumWidth: Math.min(Theme.px(150), pane.width * 0.4) }
            Side { id: rightSide; first: false; SplitView.fillWidth: true; SplitView.minimumWidth: Math.min(Theme.px(150), pane.width * 0.4) }
        }
        Rectangle {
            color: Theme.panel
            SplitView.preferredHeight: pane.height * 0.34
            SplitView.minimumHeight: Theme.px(80)
            ColumnLayout {
                anchors.fill: parent
                spacing: 0
                RowLayout {
                    Layout.leftMargin: Theme.px(10)
                    Layout.rightMargin: Theme.px(8)
                    Layout.preferredHeight: Theme.px(36)
                    spacing: Theme.px(4)
                    UButton { objectName: "replayPreviousPass"; icon16: "previous-pass"; tip: qsTr("Previous pass (↑)"); onClicked: Session.trigger("previous-pass") }
                    UButton { objectName: "replayPrevious"; icon16: "previous"; quiet: false; tip: qsTr("Both back (←)"); onClicked: Session.trigger("previous-step") }
                    UButton { objectName: "replayNext"; icon16: "next"; quiet: false; tip: qsTr("Both on (→)"); onClicked: Session.trigger("next-step") }
                    UButton { objectName: "replayNextPass"; icon16: "next-pass"; tip: qsTr("Next pass (↓)"); onClicked: Session.trigger("next-pass") }
                    UButton { objectName: "replayNextDifferent"; icon16: "down"; tip: qsTr("Next row that differs (.)"); onClicked: Session.trigger("next-changing") }
                    ULabel { objectName: "replayRowNumber"; text: rows.count > 0 ? qsTr("%1 of %2").arg(pane.detail.row + 1).arg(rows.count) : ""; color: Theme.textMuted; font.pixelSize: Theme.small; Layout.leftMargin: Theme.px(6); Layout.fillWidth: true }
                }
                Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
                ListView {
                    id: rows
                    objectName: "replayRows"
                    activeFocusOnTab: true
                    Accessible.role: Accessible.List
                    Accessible.name: qsTr("Rewrites of both")
                    Accessible.focusable: true
                    Rectangle { parent: rows; visible: rows.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    clip: true
                    model: pane.detail.rows
                    reuseItems: true
                    boundsBehavior: Flickable.StopAtBounds
                    ScrollBar.vertical: UScrollBar {}
                    readonly property int wanted: pane.detail.row
                    function look() { if (wanted < count) positionViewAtIndex(wanted, ListView.Contain); }
                    onWantedChanged: look()
                    // The pane gets its height after its rows, so the row in front is looked for again. A timer goes with the
                    // page; a call of Qt.callLater would be made after its end too.
                    Timer { id: centring; interval: 0; onTriggered: if (rows.count > 0) rows.positionViewAtIndex(Math.max(0, rows.wanted), ListView.Center) }
                    onCountChanged: centring.restart()
                    onHeightChanged: centring.restart()
                    component Half: RowLayout {
                        id: half
                        property string rule
                        property string detailText
                        property bool isPass
                        property color tone: Theme.text
                        spacing: Theme.px(8)
                        ULabel { text: half.rule; color: half.tone; font.weight: half.isPass ? Font.DemiBold : Font.Normal; Layout.fillWidth: true; Layout.preferredWidth: Theme.px(120) }
                        ULabel { text: half.detailText; color: Theme.textMuted; font.pixelSize: Theme.px(10.5); Layout.maximumWidth: half.width * 0.5 }
                    }
                    delegate: Rectangle {
                        id: row
                        required property int index
                        required property string before
                        required property string after
                        required property string beforeDetail
                        required property string afterDetail
                        required property string mark
                        required property bool pass
                        readonly property bool current: index === pane.detail.row
                        width: rows.width
                        height: Theme.row
                        color: current ? Theme.selection : area.containsMouse ? Theme.hover : pass ? Theme.raised : "transparent"
                        Rectangle { visible: row.current; width: Theme.px(3); height: parent.height; color: Theme.accent }
                        UArea { id: area; anchors.fill: parent; stop: false; name: row.before + " " + row.mark + " " + row.after; Accessible.role: Accessible.ListItem; Accessible.selected: row.current; onClicked: { rows.forceActiveFocus(); pane.detail.row = row.index; } }
                        Half { x: row.pass ? Theme.px(10) : Theme.px(24); width: parent.width / 2 - x - Theme.px(14); height: parent.height; rule: row.before; detailText: row.beforeDetail; isPass: row.pass; tone: row.mark === "-" ? Theme.removed : Theme.text }
                        ULabel { x: parent.width / 2 - Theme.px(8); width: Theme.px(16); height: parent.height; horizontalAlignment: Text.AlignHCenter; text: row.mark === "-" ? "−" : row.mark; font.bold: true; color: row.mark === "-" ? Theme.removed : row.mark === "+" ? Theme.added : Theme.modified }
                        Half { x: parent.width / 2 + (row.pass ? Theme.px(12) : Theme.px(26)); width: parent.width - x - Theme.px(16); height: parent.height; rule: row.after; detailText: row.afterDetail; isPass: row.pass; tone: row.mark === "+" ? Theme.added : Theme.text }
                    }
                }
            }
        }
    }
}
