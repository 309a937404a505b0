// A search for the rewrite that makes something so: its progress, then the answer with the way to the step.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: bar
    objectName: "bisectBar"
    visible: Tools.bisect.shown && Session.state === "ready"
    implicitHeight: body.implicitHeight + Theme.px(18)
    color: Theme.raised
    ColumnLayout {
        id: body
        x: Theme.px(14)
        y: Theme.px(8)
        width: parent.width - Theme.px(22)
        spacing: Theme.px(4)
        Item { // no layout: one that becomes visible with its children keeps them where they were
            Layout.fillWidth: true
            implicitHeight: buttons.implicitHeight
            ULabel { objectName: "bisectQuestion"; anchors.verticalCenter: parent.verticalCenter; width: Math.min(implicitWidth, buttons.x - told.implicitWidth - Theme.px(16)); text: Tools.bisect.question; font.weight: Font.DemiBold }
            ULabel { id: told; objectName: "bisectTold"; visible: Tools.bisect.busy; anchors.verticalCenter: parent.verticalCenter; x: buttons.x - width - Theme.px(8); text: Tools.bisect.text; color: Theme.textMuted }
            Row {
                id: buttons
                anchors.right: parent.right
                spacing: Theme.px(8)
                UButton { objectName: "bisectStep"; visible: Tools.bisect.hasStep; primary: true; text: qsTr("Go to the step"); onClicked: Tools.bisect.goToStep() }
                UButton { objectName: "bisectCancel"; visible: Tools.bisect.busy; quiet: false; text: qsTr("Cancel"); onClicked: Tools.bisect.cancel() }
                UButton { objectName: "bisectClose"; visible: !Tools.bisect.busy; icon16: "close"; tip: qsTr("Close"); onClicked: Tools.bisect.close() }
            }
        }
        Rectangle {
            visible: Tools.bisect.busy
            Layout.fillWidth: true
            implicitHeight: Theme.px(4)
            radius: 2
            color: Theme.line
            Rectangle { width: parent.width * Math.max(0.02, Tools.bisect.progress); height: parent.height; radius: 2; color: Theme.accent }
        }
        ULabel { objectName: "bisectAnswer"; visible: !Tools.bisect.busy; text: Tools.bisect.text; color: Tools.bisect.failed ? Theme.error : Theme.text; wrapMode: Text.Wrap; elide: Text.ElideRight; maximumLineCount: 6; Layout.fillWidth: true }
    }
    Rectangle { width: parent.width; height: 1; color: Theme.line }
}
