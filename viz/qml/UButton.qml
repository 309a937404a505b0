// A button with an icon, a text, or both. `quiet` buttons have no frame until hovered.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

AbstractButton {
    id: control
    property string icon16: ""
    property string tip: ""
    property bool quiet: true
    property bool primary: false
    property bool on: false
    implicitHeight: Theme.px(28)
    readonly property Flow flow: parent as Flow
    readonly property real around: text.length > 0 ? Theme.px(20) : Theme.px(10)
    readonly property real wanted: Math.max(Theme.px(28), (sign.visible ? sign.width : 0) + (label.visible ? label.implicitWidth : 0) + (sign.visible && label.visible ? row.spacing : 0) + around)
    implicitWidth: flow && flow.width > 0 ? Math.min(wanted, flow.width) : wanted
    hoverEnabled: true
    focusPolicy: Qt.TabFocus
    opacity: enabled ? 1 : 0.4
    Accessible.role: Accessible.Button
    Accessible.name: text.length > 0 ? text : tip
    Accessible.description: text.length > 0 ? tip : ""
    // Space is also a key of the window; while the button has the focus, Space presses the button.
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Space || event.key === Qt.Key_Return || event.key === Qt.Key_Enter
    Keys.onReturnPressed: clicked()
    Keys.onEnterPressed: clicked()

    background: Rectangle {
        radius: 6
        color: control.primary ? (control.down ? Qt.darker(Theme.accent, 1.12) : control.hovered ? Qt.lighter(Theme.accent, 1.08) : Theme.accent)
             : control.on ? Theme.selection
             : control.down ? Theme.lineStrong
             : control.hovered ? Theme.hover
             : control.quiet ? "transparent" : Theme.raised
        border.width: control.visualFocus ? 2 : control.quiet || control.primary ? 0 : 1
        border.color: control.visualFocus ? Theme.accent : Theme.lineStrong
    }
    contentItem: Item {
        implicitWidth: row.implicitWidth
        implicitHeight: row.implicitHeight
        Row {
            id: row
            anchors.centerIn: parent
            spacing: Theme.px(7)
            Icon {
                id: sign
                visible: control.icon16.length > 0
                name: control.icon16
                width: Theme.px(16)
                height: Theme.px(16)
                anchors.verticalCenter: parent.verticalCenter
                color: control.primary ? Theme.accentText : control.on ? Theme.accent : control.hovered ? Theme.text : Theme.textMuted
            }
            Text {
                id: label
                width: Math.max(0, Math.min(implicitWidth, control.width - control.around - (sign.visible ? sign.width + row.spacing : 0)))
                elide: Text.ElideRight
                textFormat: Text.PlainText
                visible: control.text.length > 0
                text: control.text
                anchors.verticalCenter: parent.verticalCenter
                font.family: Theme.sans
                font.pixelSize: Theme.body
                font.weight: control.primary ? Font.DemiBold : Font.Normal
                color: control.primary ? Theme.accentText : Theme.text
            }
        }
    }
    UTip { text: control.tip; visible: control.hovered && control.tip.length > 0 }
}
