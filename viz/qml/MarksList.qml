// Bookmarks with their notes.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

ListView {
    id: list
    objectName: "marks"
    clip: true
    model: Tools.bookmarks
    boundsBehavior: Flickable.StopAtBounds
    ScrollBar.vertical: UScrollBar {}
    delegate: Rectangle {
        id: mark
        required property int index
        required property string note
        required property string place
        width: list.width
        height: Theme.px(50)
        color: area.containsMouse ? Theme.hover : "transparent"
        Accessible.role: Accessible.ListItem
        Accessible.name: place + " " + note
        MouseArea { id: area; anchors.fill: parent; hoverEnabled: true; onClicked: Tools.bookmarks.goTo(mark.index) }
        ColumnLayout {
            anchors.fill: parent
            anchors.leftMargin: Theme.px(12)
            anchors.rightMargin: Theme.px(34)
            spacing: 0
            ULabel { text: mark.place; font.pixelSize: Theme.small; color: Theme.textMuted; Layout.fillWidth: true }
            TextInput {
                objectName: "note-" + mark.index
                text: mark.note
                color: Theme.text
                font.family: Theme.sans
                font.pixelSize: Theme.body
                selectByMouse: true
                clip: true
                Layout.fillWidth: true
                onEditingFinished: Tools.bookmarks.setNote(mark.index, text)
                ULabel { visible: parent.text.length === 0 && !parent.activeFocus; text: qsTr("note…"); color: Theme.textFaint }
            }
        }
        UButton { icon16: "close"; tip: qsTr("Remove"); anchors.right: parent.right; anchors.rightMargin: Theme.px(5); anchors.verticalCenter: parent.verticalCenter; onClicked: Tools.bookmarks.remove(mark.index) }
    }
    ULabel { visible: list.count === 0; x: Theme.px(14); y: Theme.px(6); color: Theme.textFaint; text: qsTr("No bookmarks. Ctrl D keeps the present state.") }
}
