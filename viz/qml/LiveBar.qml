// A recording that waits at a breakpoint, and the orders that it takes.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: bar
    objectName: "liveBar"
    visible: Tools.live.connected
    implicitHeight: visible ? Theme.px(Tools.live.paused ? 66 : 38) : 0
    color: Theme.raised
    ColumnLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(12)
        anchors.rightMargin: Theme.px(8)
        spacing: 0
        RowLayout {
            Layout.preferredHeight: Theme.px(36)
            spacing: Theme.px(6)
            UChip { sign: Tools.live.paused ? "❚❚" : "●"; tone: Tools.live.paused ? Theme.warning : Theme.error; text: Tools.live.paused ? qsTr("paused in %1 › %2, after %3 steps").arg(Tools.live.where.kernel).arg(Tools.live.where.pass).arg(Tools.live.where.steps) : qsTr("the compiler runs") }
            ULabel { visible: Tools.live.breakpoints.length > 0; text: qsTr("stops where %1").arg(Tools.live.breakpoints.join(qsTr(" or "))); color: Theme.textMuted; font.pixelSize: Theme.small; Layout.fillWidth: true }
            Item { Layout.fillWidth: Tools.live.breakpoints.length === 0 }
            UButton { objectName: "liveContinue"; visible: Tools.live.paused; primary: true; text: qsTr("Go on"); tip: qsTr("To the next breakpoint (F8)"); onClicked: Tools.live.order("continue") }
            UButton { objectName: "liveStep"; visible: Tools.live.paused; quiet: false; text: qsTr("Step"); tip: qsTr("Make this rewrite, stop before the next one"); onClicked: Tools.live.order("step") }
            UButton { objectName: "liveNext"; visible: Tools.live.paused; quiet: false; text: qsTr("Next"); tip: qsTr("Stop before the next one of this pass"); onClicked: Tools.live.order("next") }
            UButton { objectName: "liveFinish"; visible: Tools.live.paused; quiet: false; text: qsTr("Finish pass"); onClicked: Tools.live.order("finish") }
            UButton { objectName: "liveSkip"; visible: Tools.live.paused; quiet: false; text: qsTr("Skip it"); tip: qsTr("Leave this rewrite out"); onClicked: Tools.live.order("skip") }
            UButton { visible: !Tools.live.paused; quiet: false; text: qsTr("Pause"); tip: qsTr("Before the next rewrite (F6)"); onClicked: Tools.live.order("pause") }
        }
        ULabel {
            objectName: "liveWhere"
            visible: Tools.live.paused
            Layout.fillWidth: true
            Layout.preferredHeight: Theme.px(26)
            mono: true
            font.pixelSize: Theme.px(11.5)
            text: Tools.live.paused ? qsTr("about to apply %1:   %2   →   %3").arg(Tools.live.where.rule).arg(Tools.live.where.before).arg(Tools.live.where.after) : ""
        }
    }
    Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
}
