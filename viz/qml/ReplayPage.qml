// A comparison of two corpora or traces: the files, the changes by cause, and the pair in front.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: page
    objectName: "replayPage"
    color: Theme.canvas
    readonly property var replay: Tools.replay
    MouseArea { Accessible.ignored: true; anchors.fill: parent; hoverEnabled: true; onWheel: wheel => wheel.accepted = true } // shields the page below
    signal fileAsked(var then)
    Connections {
        target: Tools.replay
        function onUiAction(id) { if (id === "search") list.search(); else detail.act(id); }
    }
    ReplayChoice { visible: page.replay.state === "choosing" || page.replay.state === "error"; anchors.fill: parent; onFileAsked: then => page.fileAsked(then) }
    ColumnLayout {
        visible: page.replay.state === "working"
        anchors.centerIn: parent
        width: Math.min(parent.width - Theme.px(60), Theme.px(460))
        spacing: Theme.px(12)
        ULabel { text: qsTr("Comparing"); font.pixelSize: Theme.title; font.weight: Font.DemiBold }
        ULabel { objectName: "replayDoing"; text: page.replay.doing; color: Theme.textMuted; Layout.fillWidth: true }
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Theme.px(4)
            radius: 2
            color: Theme.line
            Rectangle { width: parent.width * Math.max(0.02, Math.min(1, page.replay.progress)); height: parent.height; radius: 2; color: Theme.accent }
        }
        UButton { objectName: "replayCancel"; text: qsTr("Cancel"); quiet: false; icon16: "stop"; onClicked: page.replay.cancel() }
    }
    ColumnLayout {
        visible: page.replay.state === "ready"
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: head.height + Theme.px(16)
            color: Theme.panel
            ToolLine {
                id: head
                x: Theme.px(12)
                y: Theme.px(8)
                width: parent.width - Theme.px(22)
                height: implicitHeight
                least: Theme.px(300)
                label.objectName: "replayHeadline"
                label.font.weight: Font.DemiBold
                label.font.pixelSize: Theme.body
                label.color: Theme.text
                text: page.replay.headline
                UChip { height: Theme.px(28); sign: "−"; tone: Theme.removed; text: page.replay.beforeName }
                UButton { text: "⇄"; tip: qsTr("Swap sides"); onClicked: page.replay.swap() }
                UChip { height: Theme.px(28); sign: "+"; tone: Theme.added; text: page.replay.afterName }
                UButton { objectName: "replayIgnoreNames"; on: page.replay.ignoreNames; quiet: false; text: qsTr("Ignore renaming"); tip: qsTr("Numbers in names are no change"); onClicked: page.replay.ignoreNames = !page.replay.ignoreNames }
                UButton { objectName: "replayOther"; icon16: "open"; tip: qsTr("Compare others"); onClicked: page.replay.clear() }
                UButton { objectName: "replayClose"; icon16: "close"; tip: qsTr("Close (Esc)"); onClicked: page.replay.shown = false }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Rectangle {
            visible: page.replay.warning.length > 0
            Layout.fillWidth: true
            implicitHeight: note.implicitHeight + Theme.px(12)
            color: Theme.raised
            ULabel { id: note; x: Theme.px(14); y: Theme.px(6); width: parent.width - Theme.px(28); text: page.replay.warning; color: Theme.warning; wrapMode: Text.Wrap }
        }
        USplit {
            Layout.fillWidth: true
            Layout.fillHeight: true
            ReplayKernels { id: list; SplitView.preferredWidth: Math.min(Theme.px(380), page.width * 0.3); SplitView.minimumWidth: Math.min(Theme.px(220), page.width * 0.25) }
            ReplayPair { id: detail; SplitView.fillWidth: true; SplitView.minimumWidth: Math.min(Theme.px(360), page.width * 0.5) }
        }
    }
}
