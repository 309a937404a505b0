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
        RowLayout {
            Layout.fillWidth: true
            spacing: Theme.px(8)
            ULabel { objectName: "bisectQuestion"; text: Tools.bisect.question; font.weight: Font.DemiBold; Layout.fillWidth: true }
            ULabel { visible: Tools.bisect.busy; text: Tools.bisect.text; color: Theme.textMuted }
            UButton { objectName: "bisectStep"; visible: Tools.bisect.hasStep; primary: true; text: qsTr("Go to the step"); onClicked: Tools.bisect.goToStep() }
            UButton { objectName: "bisectCancel"; visible: Tools.bisect.busy; quiet: false; text: qsTr("Cancel"); onClicked: Tools.bisect.cancel() }
            UButton { objectName: "bisectClose"; visible: !Tools.bisect.busy; icon16: "close"; tip: qsTr("Close"); onClicked: Tools.bisect.close() }
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
