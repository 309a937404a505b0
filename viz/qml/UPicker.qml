// One of several choices, behind a button that shows the present one. options: [{value, text}]
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

UButton {
    id: picker
    property string label: ""
    property var options: []
    property string value: ""
    signal picked(string value)
    readonly property string shown: { for (const o of options) if (o.value === value) return o.text; return value; }
    text: label.length > 0 ? label + ": " + shown + "  ▾" : shown + "  ▾"
    Accessible.role: Accessible.ComboBox
    Accessible.name: label + " " + shown
    onClicked: menu.open()
    Popup {
        id: menu
        objectName: picker.objectName + "Menu"
        y: picker.height + 2
        padding: Theme.px(4)
        implicitWidth: Math.max(picker.width, Theme.px(150))
        background: Rectangle { radius: 7; color: Theme.raised; border.color: Theme.lineStrong }
        contentItem: Column {
            Repeater {
                model: picker.options
                Rectangle {
                    id: line
                    required property var modelData
                    objectName: picker.objectName + "-" + modelData.value
                    width: menu.availableWidth
                    height: Theme.px(27)
                    radius: 5
                    color: area.containsMouse ? Theme.hover : "transparent"
                    Accessible.role: Accessible.MenuItem
                    Accessible.name: modelData.text
                    Icon { visible: line.modelData.value === picker.value; name: "check"; x: Theme.px(6); width: Theme.px(13); height: width; anchors.verticalCenter: parent.verticalCenter; color: Theme.accent }
                    ULabel { x: Theme.px(25); anchors.verticalCenter: parent.verticalCenter; text: line.modelData.text }
                    MouseArea { id: area; anchors.fill: parent; hoverEnabled: true; onClicked: { menu.close(); picker.picked(line.modelData.value); } }
                }
            }
        }
    }
}
