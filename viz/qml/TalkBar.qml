// A talk: the bookmarks of the trace in order, each with its note. Alt+Down and Alt+Up go on and back.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: bar
    objectName: "talkBar"
    visible: Tools.bookmarks.talking && Session.state === "ready"
    implicitHeight: line.implicitHeight + Theme.px(16)
    color: Theme.raised
    RowLayout {
        id: line
        x: Theme.px(14)
        y: Theme.px(8)
        width: parent.width - Theme.px(22)
        spacing: Theme.px(10)
        ULabel { text: qsTr("%1 of %2").arg(Tools.bookmarks.current + 1).arg(Tools.bookmarks.count); color: Theme.textMuted }
        ULabel { objectName: "talkNote"; text: Tools.bookmarks.note; Layout.fillWidth: true; wrapMode: Text.Wrap; elide: Text.ElideNone; font.pixelSize: Theme.title }
        UButton { objectName: "talkBack"; quiet: false; text: "‹"; enabled: Tools.bookmarks.current > 0; tip: qsTr("The bookmark before (Alt Up)"); onClicked: Tools.bookmarks.step(-1) }
        UButton { objectName: "talkOn"; quiet: false; text: "›"; enabled: Tools.bookmarks.current + 1 < Tools.bookmarks.count; tip: qsTr("The next bookmark (Alt Down)"); onClicked: Tools.bookmarks.step(1) }
        UButton { objectName: "talkEnd"; icon16: "close"; tip: qsTr("End of the talk"); onClicked: Tools.bookmarks.endTalk() }
    }
    Rectangle { width: parent.width; height: 1; color: Theme.line }
}
