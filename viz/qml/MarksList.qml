// Bookmarks with their notes.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

UList {
    id: list
    objectName: "marks"
    name: qsTr("Bookmarks")
    model: Tools.bookmarks
    onTaken: index => Tools.bookmarks.goTo(index)
    /// A note was typed: the keyboard may go back to where it was.
    signal noted()
    function askNote(row: int) {
        positionViewAtIndex(row, ListView.Contain);
        editAsked(row);
    }
    signal editAsked(int row)
    delegate: URow {
        id: mark
        owner: list
        at: index
        label: place + " " + note
        chosen: index === Tools.bookmarks.current
        required property int index
        required property string note
        required property string place
        Connections {
            target: list
            function onEditAsked(row: int) {
                if (row !== mark.index) return;
                noteField.forceActiveFocus();
                noteField.selectAll();
            }
        }
        width: list.width
        height: Theme.px(50)
        ColumnLayout {
            anchors.fill: parent
            anchors.leftMargin: Theme.px(12)
            anchors.rightMargin: Theme.px(34)
            spacing: 0
            ULabel { text: mark.place; font.pixelSize: Theme.small; color: Theme.textMuted; Layout.fillWidth: true }
            TextInput {
                id: noteField
                objectName: "note-" + mark.index
                text: mark.note
                color: Theme.text
                font.family: Theme.sans
                font.pixelSize: Theme.body
                selectByMouse: true
                activeFocusOnTab: true
                Accessible.role: Accessible.EditableText
                Accessible.name: qsTr("Note of %1").arg(mark.place)
                Rectangle { visible: parent.activeFocus; anchors.fill: parent; anchors.margins: -2; radius: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
                clip: true
                Layout.fillWidth: true
                onActiveFocusChanged: if (!activeFocus) ensureVisible(0) // a long note is read from its beginning
                onWidthChanged: if (!activeFocus) ensureVisible(0)
                onEditingFinished: Tools.bookmarks.setNote(mark.index, text)
                onAccepted: list.noted()
                Keys.onEscapePressed: { text = mark.note; list.noted(); }
                ULabel { visible: parent.text.length === 0 && !parent.activeFocus; text: qsTr("note…"); color: Theme.textFaint }
            }
        }
        Column {
            visible: mark.hovered || mark.activeFocus
            anchors.right: parent.right
            anchors.rightMargin: Theme.px(34)
            anchors.verticalCenter: parent.verticalCenter
            UButton { objectName: "markUp-" + mark.index; text: "↑"; implicitHeight: Theme.px(20); implicitWidth: Theme.px(24); tip: qsTr("Earlier in the talk"); enabled: mark.index > 0; onClicked: Tools.bookmarks.move(mark.index, -1) }
            UButton { objectName: "markDown-" + mark.index; text: "↓"; implicitHeight: Theme.px(20); implicitWidth: Theme.px(24); tip: qsTr("Later in the talk"); enabled: mark.index < list.count - 1; onClicked: Tools.bookmarks.move(mark.index, 1) }
        }
        UButton { icon16: "close"; tip: qsTr("Remove"); anchors.right: parent.right; anchors.rightMargin: Theme.px(5); anchors.verticalCenter: parent.verticalCenter; onClicked: Tools.bookmarks.remove(mark.index) }
    }
    footer: count === 0 ? none : null
    Component { id: none; ULabel { width: list.width; leftPadding: Theme.px(14); rightPadding: Theme.px(14); topPadding: Theme.px(6); wrapMode: Text.Wrap; elide: Text.ElideNone; color: Theme.textFaint; text: qsTr("No bookmarks. Ctrl D keeps the present state.") } }
}
