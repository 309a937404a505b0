// A clickable area that is no button: Tab reaches it, Space and Return press it, screen readers announce it.
//
//   UArea { anchors.fill: parent; name: qsTr("Passes"); onClicked: ... }
//
// Rows of a list are no stops of the keyboard (`stop: false`): their UList is the stop for all of them.
import QtQuick
import uopscope.core

MouseArea {
    id: area
    property string name: ""
    property bool stop: true
    property real radius: 5
    hoverEnabled: true
    activeFocusOnTab: stop && enabled
    Accessible.role: Accessible.Button
    Accessible.name: name
    Accessible.focusable: stop && enabled
    Accessible.onPressAction: clicked(null)
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Space || event.key === Qt.Key_Return || event.key === Qt.Key_Enter
    Keys.onSpacePressed: clicked(null)
    Keys.onReturnPressed: clicked(null)
    Keys.onEnterPressed: clicked(null)
    Rectangle { visible: area.activeFocus; anchors.fill: parent; radius: area.radius; color: "transparent"; border.width: 2; border.color: Theme.accent }
}
