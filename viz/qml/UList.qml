// A list for the mouse, the keyboard and screen readers: Tab reaches it, arrows move in it, Return or Space
// takes a row. Delegates call take(index) when they are clicked.
//
//   UList { name: qsTr("Steps"); start: Session.step - 1; onTaken: index => Session.step = index + 1 }
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

ListView {
    id: list
    property string name: ""
    property int start: -1 ///< the row that is current when the list gets the focus
    signal taken(int index)
    function take(index) { currentIndex = index; taken(index); }
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    activeFocusOnTab: true
    Accessible.role: Accessible.List
    Accessible.name: name
    Accessible.focusable: true
    ScrollBar.vertical: UScrollBar {}
    // The keyboard starts at the row of the present place.
    onActiveFocusChanged: if (activeFocus && start >= 0) currentIndex = start
    Keys.onShortcutOverride: event => event.accepted = [Qt.Key_Up, Qt.Key_Down, Qt.Key_Home, Qt.Key_End, Qt.Key_PageUp, Qt.Key_PageDown, Qt.Key_Return, Qt.Key_Enter, Qt.Key_Space].indexOf(event.key) >= 0 && event.modifiers === Qt.NoModifier
    Keys.onPressed: event => {
        const page = Math.max(1, Math.floor(height / Math.max(1, currentItem ? currentItem.height : Theme.row)) - 1);
        const to = { [Qt.Key_Up]: currentIndex - 1, [Qt.Key_Down]: currentIndex + 1, [Qt.Key_Home]: 0, [Qt.Key_End]: count - 1, [Qt.Key_PageUp]: currentIndex - page, [Qt.Key_PageDown]: currentIndex + page }[event.key];
        if (to !== undefined && count > 0) { currentIndex = Math.max(0, Math.min(count - 1, to)); positionViewAtIndex(currentIndex, ListView.Contain); }
        else if ([Qt.Key_Return, Qt.Key_Enter, Qt.Key_Space].indexOf(event.key) >= 0 && currentIndex >= 0 && currentIndex < count) taken(currentIndex);
        else return;
        event.accepted = true;
    }
    highlightMoveDuration: 0
    highlightResizeDuration: 0
    highlight: Rectangle { z: 2; visible: list.activeFocus; color: "transparent"; radius: 4; border.width: 2; border.color: Theme.accent }
    Rectangle { parent: list; visible: list.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
}
