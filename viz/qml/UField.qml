// An input line with an icon and a button to clear it.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

TextField {
    id: field
    property string icon16: "search"
    property string hint: ""
    property bool clearable: true
    implicitHeight: Theme.px(28)
    leftPadding: icon16.length > 0 ? Theme.px(28) : Theme.px(9)
    rightPadding: Theme.px(24)
    topPadding: 0
    bottomPadding: 0
    verticalAlignment: TextInput.AlignVCenter
    font.family: Theme.sans
    font.pixelSize: Theme.body
    color: Theme.text
    selectionColor: Theme.accent
    selectedTextColor: Theme.accentText
    placeholderText: hint
    placeholderTextColor: Theme.textFaint
    selectByMouse: true
    Accessible.role: Accessible.EditableText
    Accessible.name: hint
    background: Rectangle {
        radius: 6
        color: Theme.window
        border.width: field.activeFocus ? 2 : 1
        border.color: field.activeFocus ? Theme.accent : Theme.line
    }
    Icon {
        visible: field.icon16.length > 0
        name: field.icon16
        width: Theme.px(14)
        height: Theme.px(14)
        x: Theme.px(8)
        anchors.verticalCenter: parent.verticalCenter
        color: Theme.textFaint
    }
    UButton {
        visible: field.clearable && field.text.length > 0
        icon16: "close"
        tip: qsTr("Clear")
        focusPolicy: Qt.NoFocus
        width: Theme.px(20)
        height: Theme.px(20)
        anchors.right: parent.right
        anchors.rightMargin: Theme.px(4)
        anchors.verticalCenter: parent.verticalCenter
        onClicked: field.clear()
    }
}
