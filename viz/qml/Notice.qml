// A sentence that appears at the bottom and vanishes by itself.
import QtQuick
import uopscope.core

Rectangle {
    id: notice
    objectName: "notice"
    property string text: ""
    visible: opacity > 0
    opacity: 0
    z: 100
    width: Math.min(label.implicitWidth + Theme.px(36), parent.width - Theme.px(80))
    height: label.contentHeight + Theme.px(20)
    radius: 8
    color: Theme.dark ? "#2d3542" : "#22303c"
    border.color: Theme.lineStrong
    anchors.horizontalCenter: parent.horizontalCenter
    ULabel { id: label; anchors.centerIn: parent; width: parent.width - Theme.px(30); text: notice.text; color: "#f2f5f8"; wrapMode: Text.Wrap; horizontalAlignment: Text.AlignHCenter; elide: Text.ElideNone }
    Behavior on opacity { enabled: Theme.animated; NumberAnimation { duration: 140 } }
    Timer { id: timer; interval: Math.max(2200, notice.text.length * 60); onTriggered: notice.opacity = 0 }
    Accessible.role: Accessible.AlertMessage
    Accessible.name: notice.text
    MouseArea { anchors.fill: parent; onClicked: notice.opacity = 0 }
    Connections {
        target: Session
        function onNoticeChanged() {
            notice.text = Session.notice;
            if (notice.text.length > 0) { notice.opacity = 1; timer.restart(); }
        }
    }
}
