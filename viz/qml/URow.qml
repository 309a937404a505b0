// A row of a UList: the list is the stop of the keyboard; screen readers announce the row.
//
//   delegate: URow { owner: list; at: index; label: rule + ": " + reason;  ULabel { ... } }
import QtQuick
import uopscope.core

Rectangle {
    id: row
    property UList owner
    property int at: -1
    property string label: ""
    property bool chosen: false ///< the row of the present place
    readonly property alias hovered: area.containsMouse
    signal doubleClicked()
    color: chosen ? Theme.selection : hovered ? Theme.hover : "transparent"
    Accessible.role: Accessible.ListItem
    Accessible.name: label
    Accessible.focusable: true
    Accessible.selectable: true
    Accessible.selected: chosen
    Accessible.onPressAction: owner.take(at)
    MouseArea { id: area; anchors.fill: parent; hoverEnabled: true; onClicked: row.owner.take(row.at); onDoubleClicked: row.doubleClicked() }
}
